#include "builder/cli/confirm.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "builder/cli/terminal.h"

bool confirm(struct cli *cli, const char *text, const char *question, bool unasked)
{
	char answer[16] = "";
	FILE *shown;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return unasked;
	progress_rest(cli->progress);
	fflush(cli->out);
	shown = terminal_filter(stderr, NULL);
	if (shown == NULL)
		return false;
	fprintf(shown, "%s%s [y/N] ", text, question);
	fclose(shown);
	fflush(stderr);
	if (fgets(answer, sizeof(answer), stdin) == NULL)
		return false;
	answer[strcspn(answer, "\n")] = '\0';
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}
