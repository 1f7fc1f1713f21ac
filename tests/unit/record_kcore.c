/* SPDX-License-Identifier: MIT */
/* --kcore: the kernel's code and its modules' out of a made-up kcore, with kallsyms and modules
 * beside it. */
#include "fake_pt.h"
#include <elf.h>
#include <perfdata/recording.h>

enum { DATA = 0x4000, TEXT_SIZE = 0x3000, MODULE_SIZE = 0x5000 };
static const uint64_t text = UINT64_C(0xffffffff81000000), module = UINT64_C(0xffffffffc0000000);

/* Memory that nobody wants, then the kernel, then modules; bytes say where they are from. */
static uint8_t byte_at(uint64_t address)
{
    return (uint8_t)(address >> 8 ^ address * 7);
}

static void make_kcore(void)
{
    char path[300];
    Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                        .e_type = ET_CORE,
                        .e_machine = EM_X86_64,
                        .e_phoff = sizeof head,
                        .e_ehsize = sizeof head,
                        .e_phentsize = sizeof(Elf64_Phdr),
                        .e_phnum = 4 };
    const Elf64_Phdr segments[] = {
        { .p_type = PT_NOTE, .p_offset = 0x1000, .p_filesz = 64 },
        { .p_type = PT_LOAD, .p_vaddr = 0x100000, .p_offset = 0x2000, .p_memsz = 0x1000 },
        { .p_type = PT_LOAD, .p_vaddr = text - 0x1000, .p_offset = DATA, .p_memsz = 0x8000 },
        { .p_type = PT_LOAD, .p_vaddr = module, .p_offset = DATA + 0x8000, .p_memsz = 0x10000 },
    };
    put("proc/kcore", "");
    snprintf(path, sizeof path, "%s/proc/kcore", root);
    FILE *file = fopen(path, "w");
    CHECK(file && fwrite(&head, sizeof head, 1, file) == 1 &&
          fwrite(segments, sizeof segments, 1, file) == 1);
    for (size_t i = 2; file && i < 4; i++) {
        CHECK(!fseek(file, (long)segments[i].p_offset, SEEK_SET));
        for (uint64_t n = 0; n < segments[i].p_memsz; n++)
            fputc(byte_at(segments[i].p_vaddr + n), file);
    }
    if (file)
        fclose(file);
}

static void check_segment(FILE *file, const Elf64_Phdr *segment, uint64_t start, uint64_t size)
{
    CHECK_U64(segment->p_type, PT_LOAD);
    CHECK_U64(segment->p_vaddr, start);
    CHECK_U64(segment->p_filesz, size);
    CHECK_U64(segment->p_memsz, size);
    CHECK(!fseek(file, (long)segment->p_offset, SEEK_SET));
    for (uint64_t n = 0; n < size; n++)
        if (fgetc(file) != byte_at(start + n)) {
            CHECK_U64(n, UINT64_MAX);
            break;
        }
}

static void check_copy(void)
{
    char path[300], line[200];
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    snprintf(path, sizeof path, "%s/kcore_dir/kcore", output);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    if (!file)
        return;
    CHECK(fread(&head, sizeof head, 1, file) == 1 && head.e_type == ET_CORE);
    CHECK_U64(head.e_phnum, 2);
    CHECK(fread(segments, sizeof segments, 1, file) == 1);
    check_segment(file, &segments[0], text, TEXT_SIZE);
    check_segment(file, &segments[1], module + 0x1000, MODULE_SIZE);
    fclose(file);
    snprintf(path, sizeof path, "%s/kcore_dir/modules", output);
    file = fopen(path, "r");
    CHECK(file && fgets(line, sizeof line, file) && !strncmp(line, "alpha ", 6));
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "%s/kcore_dir/kallsyms", output);
    CHECK(!access(path, R_OK));
}

static perfdata_status record_once(perfdata_recorder **recorder)
{
    *recorder = open_recorder("cpu-clock", (struct perfdata_recorder_options){
                                               .flags = PERFDATA_RECORDER_ALL_CPUS, .kcore = 1 });
    perfdata_status status = perfdata_recorder_start(*recorder);
    return status < 0 ? status : finish(*recorder);
}

int main(void)
{
    char path[300];
    perfdata_recorder *recorder;
    perfdata_recording *recording;
    make_root();
    CHECK(record_once(&recorder) == PERFDATA_ERROR_NOT_FOUND);
    CHECK_STR(perfdata_recorder_error(recorder), "ERROR: kcore is not readable.");
    perfdata_recorder_close(recorder);
    CHECK(access(output, F_OK) < 0);
    put("proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000040 T start\n"
                         "ffffffff81002f00 T _etext\nffffffffc0001010 t work\t[alpha]");
    put("proc/modules", "alpha 4096 0 - Live 0xffffffffc0001000\n"
                        "beta 8192 0 - Live 0xffffffffc0004000");
    make_kcore();
    for (unsigned i = 0; i < 3; i++) { /* what was there moves away, with its copy */
        CHECK(record_once(&recorder) == PERFDATA_OK);
        CHECK_STR(perfdata_recorder_error(recorder), "");
        perfdata_recorder_close(recorder);
        check_copy();
    }
    snprintf(path, sizeof path, "%s.old/kcore_dir/kcore", output);
    CHECK(!access(path, R_OK));
    CHECK(perfdata_recording_open(output, NULL, &recording) == PERFDATA_OK);
    perfdata_recording_close(recording);
    /* a directory with something else in it is nobody's recording */
    snprintf(path, sizeof path, "%s/notes", output);
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
    CHECK(record_once(&recorder) == PERFDATA_ERROR_OUTPUT);
    CHECK(strstr(perfdata_recorder_error(recorder), ": Is a directory") != NULL);
    perfdata_recorder_close(recorder);
    CHECK(!access(path, R_OK));
    remove_root();
    return test_done();
}
