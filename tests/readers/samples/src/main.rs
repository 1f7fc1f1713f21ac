// SPDX-License-Identifier: MIT
//! samples FILE...: how many samples another reader, the crate linux-perf-data, finds in each.

use linux_perf_data::{Error, PerfFileReader, PerfFileRecord};
use linux_perf_event_reader::RecordType;
use std::fs::File;
use std::io::{BufReader, Read};

fn count<R: Read>(reader: Result<PerfFileReader<R>, Error>) -> Result<u64, Error> {
    let PerfFileReader { mut perf_file, mut record_iter } = reader?;
    let mut samples = 0;
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        if let PerfFileRecord::EventRecord { record, .. } = record {
            if record.record_type == RecordType::SAMPLE {
                record.parse()?;
                samples += 1;
            }
        }
    }
    Ok(samples)
}

fn is_pipe(path: &str) -> bool {
    let mut head = [0u8; 16];
    match File::open(path).and_then(|mut file| file.read_exact(&mut head)) {
        // the size behind the magic is that of a stream's header, in either byte order
        Ok(()) => head[8..16] == 16u64.to_le_bytes() || head[8..16] == 16u64.to_be_bytes(),
        Err(_) => false,
    }
}

fn main() {
    for path in std::env::args().skip(1) {
        let file = match File::open(&path) {
            Ok(file) => BufReader::new(file),
            Err(error) => {
                println!("{path}\tfails: {error}");
                continue;
            }
        };
        let counted = if is_pipe(&path) {
            count(PerfFileReader::parse_pipe(file))
        } else {
            count(PerfFileReader::parse_file(file))
        };
        match counted {
            Ok(samples) => println!("{path}\t{samples}"),
            Err(error) => println!("{path}\tfails: {error}"),
        }
    }
}
