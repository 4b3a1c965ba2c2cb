/*
 * The kinds of programs, and the services of CI. Packages are those of Debian 13.
 */
#include <string.h>

#include "base/attr.h"
#include "builder/init/model.h"

#define CXX   ".cc .cpp .cxx"
#define MAKE  "make && install -D @program@ build/@arch@/@program@"
#define CMAKE "cmake -S . -B build/@arch@ -DCMAKE_BUILD_TYPE=Release && cmake --build build/@arch@"
#define GO    "CGO_ENABLED=0 GOOS=linux GOARCH=@arch@ go build -trimpath -o build/@arch@/@program@"
/* Without compiled files, which name the time they were made at; for the base image's Python. */
#define PIP                                                                                        \
	"python3 -m pip install --quiet --no-compile --upgrade --target build/@arch@/packages "    \
	"--platform manylinux2014_@machine@ --python-version 3.13 --only-binary=:all: "

const struct init_project init_projects[] = {
	{"go", "go.mod", NULL, ".go", "go", GO " .", "golang ca-certificates", .crosses = true},
	{"go", NULL, NULL, ".go", "go", GO " @sources@*.go", "golang ca-certificates",
         .crosses = true},
	{"rust", "Cargo.toml", NULL, ".rs", "native",
         "cargo build --release && install -D target/release/@program@ build/@arch@/@program@",
         "cargo ca-certificates", .crosses = false},
	{"rust", NULL, NULL, ".rs", "native",
         "mkdir -p build/@arch@ && rustc -O -o build/@arch@/@program@ @sources@main.rs",
         "rustc gcc libc6-dev", .crosses = false},
	{"pytorch", "requirements.txt", "torch", ".py", "python", .torch = true, .crosses = true},
	{"pytorch", NULL, NULL, ".py", "python", .torch = true, .crosses = true},
	{"python", "requirements.txt", NULL, ".py", "python", PIP "-r requirements.txt",
         "python3-pip", .crosses = true, .packages = true},
	{"python", "pyproject.toml", NULL, ".py", "python", PIP ".", "python3-pip", .crosses = true,
         .packages = true},
	{"python", NULL, NULL, ".py", "python", .crosses = true},
	{"c++", "CMakeLists.txt", NULL, CXX, "native", CMAKE, "cmake make g++", .crosses = false},
	{"c++", "Makefile", NULL, CXX, "native", MAKE, "make g++", .crosses = false},
	{"c++", NULL, NULL, CXX, "native",
         "mkdir -p build/@arch@ && c++ -O2 -o build/@arch@/@program@ @sources@*.c*", "g++",
         .crosses = false},
	{"c", "CMakeLists.txt", NULL, ".c", "native", CMAKE, "cmake make gcc libc6-dev",
         .crosses = false},
	{"c", "Makefile", NULL, ".c", "native", MAKE, "make gcc libc6-dev", .crosses = false},
	{"c", NULL, NULL, ".c", "native",
         "mkdir -p build/@arch@ && cc -O2 -o build/@arch@/@program@ @sources@*.c", "gcc libc6-dev",
         .crosses = false},
};
const size_t n_init_projects = ARRAY_LEN(init_projects);

const char *const init_kinds[] = {"c", "c++", "go", "rust", "python", "pytorch", NULL};

#define RENDER "slipway render --only pipeline -o deploy"

static const struct init_ci services[] = {
	{"codebuild", NULL, NULL, "$SLIPWAY_ARCH", "$(uname -m)", RENDER,
         "once the examples below `pipeline` are yours: CloudFormation's template"},
	{"github", NULL, NULL, "$SLIPWAY_ARCH", "$(uname -m)",
         RENDER " && install -D -m 0644 deploy/80-pipeline/github-workflow.yaml "
                ".github/workflows/slipway.yaml",
         "once the examples below `pipeline` are yours: the workflow"},
	{"gitlab", ".gitlab-ci.yml", "gitlab", "$ARCH", "$(uname -m)",
         "git add .gitignore slipway.yaml .gitlab-ci.yml",
         "once the release's address and checksums in the last are yours"},
	{"jenkins", "Jenkinsfile", "jenkins", "$ARCH", "$(uname -m)",
         "git add .gitignore slipway.yaml Jenkinsfile",
         "its agents have slipway on PATH, and a secret file called registry"},
	{"buildkite", ".buildkite/pipeline.yml", "buildkite", "{{matrix}}", "$$(uname -m)",
         "git add .gitignore slipway.yaml .buildkite",
         "its agents have slipway on PATH, a tag `arch`, and a login in DOCKER_CONFIG"},
};

const char *const init_ci_names[] = {"codebuild", "github", "gitlab", "jenkins", "buildkite", NULL};

const struct init_ci *init_ci_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(services); i++)
		if (strcmp(services[i].name, name) == 0)
			return &services[i];
	return NULL;
}
