// SPDX-License-Identifier: MIT
//! walk FILE: one number over every field of every record that the crate linux-perf-data knows, in
//! its order, as `perfdata dump --checksum` makes one of all that perfdata knows. The two numbers
//! differ: this is for comparing their speed.

use linux_perf_data::{Error, PerfFileReader, PerfFileRecord};
use linux_perf_event_reader::{EventRecord, Mmap2FileId, RawData, SampleRecord};
use std::fs::File;
use std::io::BufReader;

struct Sum(u64);

impl Sum {
    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn some<T: Into<i128>>(&mut self, value: Option<T>) {
        if let Some(value) = value {
            self.add(value.into() as u64);
        }
    }

    fn bytes(&mut self, data: &RawData) {
        let bytes = data.as_slice();
        let (words, tail) = bytes.split_at(bytes.len() / 8 * 8);
        for word in words.chunks_exact(8) {
            self.add(u64::from_le_bytes(word.try_into().unwrap()));
        }
        for byte in tail {
            self.add(u64::from(*byte));
        }
    }
}

fn add_sample(sum: &mut Sum, sample: &SampleRecord) {
    for value in [
        sample.id,
        sample.addr,
        sample.stream_id,
        sample.ip,
        sample.timestamp,
        sample.period,
        sample.phys_addr,
        sample.data_page_size,
        sample.code_page_size,
    ] {
        sum.some(value);
    }
    sum.some(sample.pid);
    sum.some(sample.tid);
    sum.some(sample.cpu);
    if let Some(chain) = sample.callchain {
        for index in 0..chain.len() {
            sum.some(chain.get(index));
        }
    }
    for regs in [&sample.user_regs, &sample.intr_regs].into_iter().flatten() {
        for register in 0..64 {
            sum.some(regs.get(register));
        }
    }
    if let Some((stack, size)) = &sample.user_stack {
        sum.bytes(stack);
        sum.add(*size);
    }
    if let Some(raw) = &sample.raw {
        sum.bytes(raw);
    }
}

fn add_record(sum: &mut Sum, record: &EventRecord) {
    match record {
        EventRecord::Sample(sample) => add_sample(sum, sample),
        EventRecord::Comm(comm) => {
            sum.some(Some(comm.pid));
            sum.some(Some(comm.tid));
            sum.bytes(&comm.name);
        }
        EventRecord::Exit(task) | EventRecord::Fork(task) => {
            for id in [task.pid, task.ppid, task.tid, task.ptid] {
                sum.some(Some(id));
            }
            sum.add(task.timestamp);
        }
        EventRecord::Mmap(map) => {
            sum.some(Some(map.pid));
            sum.some(Some(map.tid));
            for value in [map.address, map.length, map.page_offset] {
                sum.add(value);
            }
            sum.bytes(&map.path);
        }
        EventRecord::Mmap2(map) => {
            sum.some(Some(map.pid));
            sum.some(Some(map.tid));
            for value in [map.address, map.length, map.page_offset] {
                sum.add(value);
            }
            match &map.file_id {
                Mmap2FileId::InodeAndVersion(id) => {
                    sum.add(u64::from(id.major));
                    sum.add(u64::from(id.minor));
                    sum.add(id.inode);
                    sum.add(id.inode_generation);
                }
                Mmap2FileId::BuildId(id) => sum.bytes(&RawData::from(&id[..])),
            }
            sum.add(u64::from(map.protection));
            sum.add(u64::from(map.flags));
            sum.bytes(&map.path);
        }
        EventRecord::Lost(lost) => {
            sum.add(lost.id);
            sum.add(lost.count);
        }
        EventRecord::Throttle(throttle) | EventRecord::Unthrottle(throttle) => {
            sum.add(throttle.id);
            sum.add(throttle.timestamp);
        }
        EventRecord::Raw(raw) => sum.bytes(&raw.data),
        _ => sum.add(1),
    }
}

fn walk(path: &str) -> Result<u64, Error> {
    let file = BufReader::new(File::open(path)?);
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(file)?;
    let mut sum = Sum(0);
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        if let PerfFileRecord::EventRecord { record, .. } = record {
            if let Ok(common) = record.common_data() {
                sum.some(common.timestamp);
                sum.some(common.cpu);
            }
            add_record(&mut sum, &record.parse()?);
        }
    }
    Ok(sum.0)
}

fn main() {
    let path = std::env::args().nth(1).expect("walk FILE");
    match walk(&path) {
        Ok(sum) => println!("{sum:016x}"),
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(1);
        }
    }
}
