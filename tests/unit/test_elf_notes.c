/* Notes of ELF files: the build ID and the package. */
#include <elf.h>

#include "builder/layer/elf/elf.h"
#include "tests/harness.h"

struct file {
	Elf64_Ehdr head;
	Elf64_Phdr note;
	unsigned char notes[1024];
};

static void add_note(struct file *f, const char name[4], uint32_t type, const void *content,
                     uint32_t len)
{
	const uint32_t head[3] = {4, len, type};
	unsigned char *at = f->notes + f->note.p_filesz;

	memcpy(at, head, sizeof(head));
	memcpy(at + 12, name, 4);
	memcpy(at + 16, content, len);
	f->note.p_filesz += 16 + (len + 3) / 4 * 4;
}

static struct file make(void)
{
	struct file f = {
		.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	                 .e_type = ET_DYN,
	                 .e_machine = EM_X86_64,
	                 .e_phoff = offsetof(struct file, note),
	                 .e_phentsize = sizeof(Elf64_Phdr),
	                 .e_phnum = 1},
		.note = {.p_type = PT_NOTE, .p_offset = offsetof(struct file, notes)}};

	return f;
}

static void reads_both(void)
{
	AUTO(arena) struct arena a = {0};
	static const char json[] = "{\"type\":\"deb\",\"os\":\"debian\",\"osVersion\":\"12\","
				   "\"name\":\"tool\",\"version\":\"1\\u001b.0-1\","
				   "\"architecture\":\"amd64\"}";
	struct file f = make();
	struct elf_info info;
	struct err err = {0};

	add_note(&f, "GNU", NT_GNU_BUILD_ID, "\x01\xab\xff", 3);
	add_note(&f, "FDO", 0xcafe1a7e, json, sizeof(json));
	CHECK_OK(elf_parse_bytes(&f, sizeof(f), &a, &info, &err), &err);
	CHECK_STR(info.build_id, "01abff");
	CHECK(info.package != NULL);
	if (info.package == NULL)
		return;
	CHECK_STR(info.package->name, "tool");
	CHECK_STR(info.package->version, "1?.0-1");
	CHECK_STR(info.package->os_version, "12");
}

static void passes_over_what_is_malformed(void)
{
	static const char *const texts[] = {"", "[]", "{", "{\"name\":7}", "{\"version\":\"1\"}"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO(arena) struct arena a = {0};
		struct file f = make();
		struct elf_info info;
		struct err err = {0};

		add_note(&f, "GNU", NT_GNU_BUILD_ID, texts[i], 0);
		add_note(&f, "FDO", 0xcafe1a7e, texts[i], (uint32_t)strlen(texts[i]) + 1);
		CHECK_OK(elf_parse_bytes(&f, sizeof(f), &a, &info, &err), &err);
		CHECK(info.build_id == NULL);
		CHECK(info.package == NULL);
	}
}

int main(void)
{
	TEST("elf: the build ID and the package of a file are read", reads_both);
	TEST("elf: a malformed note says nothing", passes_over_what_is_malformed);
	return test_done();
}
