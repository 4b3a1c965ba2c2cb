#include "builder/aws/words.h"

#include <stdbool.h>
#include <string.h>

#define WORD_ENDS " \t\r\n"

/*
 * The character behind a backslash at *at, moving *at to it. Inside double quotes the backslash
 * stays unless it quotes '"' or itself.
 */
static int take_escaped(const char **at, char quote, char **out, struct err *err)
{
	char next = (*at)[1];

	if (next == '\0')
		return err_set(err, ERR_FORMAT, "a backslash is the last character");
	if (quote == '"' && next != '"' && next != '\\')
		*(*out)++ = '\\';
	*(*out)++ = next;
	(*at)++;
	return 0;
}

/* One word from *at on to `out`, which has room for the rest of the text. */
static int take_word(const char **at, char *out, struct err *err)
{
	char quote = '\0';

	for (; **at != '\0' && (quote != '\0' || strchr(WORD_ENDS, **at) == NULL); (*at)++) {
		char c = **at;

		if (quote == '\0' && (c == '"' || c == '\''))
			quote = c;
		else if (quote != '\0' && c == quote)
			quote = '\0';
		else if (c != '\\' || quote == '\'')
			*out++ = c;
		else if (take_escaped(at, quote, &out, err) != 0)
			return -1;
	}
	return quote == '\0' ? 0 : err_set(err, ERR_FORMAT, "a quotation mark is not closed");
}

int words_split(const char *text, struct arena *a, struct word_list *ret_words, struct err *err)
{
	struct word_list w = {.n = 0};

	for (text += strspn(text, WORD_ENDS); *text != '\0'; text += strspn(text, WORD_ENDS)) {
		char *word = arena_alloc(a, strlen(text) + 1);

		if (w.n == WORDS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d words", (int)WORDS_MAX);
		if (take_word(&text, word, err) != 0)
			return -1;
		w.at[w.n++] = word;
	}
	*ret_words = w;
	return 0;
}
