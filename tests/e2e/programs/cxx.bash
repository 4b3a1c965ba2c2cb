# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="libstdc++-12-dev libc6-dev tzdata"

prepare() {
	[ -e /usr/share/i18n/locales/de_DE ] || skip "Debian's package locales is not installed"
	if [ ! -e locales ]; then
		mkdir -p locales/usr/lib/locale
		localedef --no-archive --little-endian -i de_DE -f UTF-8 locales/usr/lib/locale/de_DE.utf8
	fi
	cat >app.cc <<-'END'
		#include <chrono>
		#include <filesystem>
		#include <iomanip>
		#include <iostream>
		#include <locale>
		#include <pwd.h>
		#include <regex>
		#include <stdexcept>
		#include <thread>
		#include <unistd.h>

		static void say_time(const char *zone)
		{
			const std::time_t noon = 1782907200; // 2026-07-01 12:00 UTC
			if (zone)
				setenv("TZ", zone, 1);
			tzset();
			std::cout << std::put_time(std::localtime(&noon), "%A %H:%M %Z") << '\n';
		}

		int main()
		{
			std::locale::global(std::locale(""));
			std::cout.imbue(std::locale());
			std::cout << std::locale().name() << ' ' << std::fixed << std::setprecision(2) << 1234567.5 << '\n';
			say_time(nullptr);
			say_time("America/New_York");
			std::cout << getpwuid(getuid())->pw_name << ' ' << std::filesystem::exists("/home/app") << '\n';
			int sum = 0;
			std::thread([&] { sum = 40; }).join();
			try {
				throw std::runtime_error("caught");
			} catch (const std::exception &e) {
				std::cout << e.what() << ' ' << sum + std::regex_match("slipway", std::regex("s.*y")) + 1 << '\n';
			}
		}
	END
	compile "build/$arch/app" app.cc -std=c++17 -pthread
}

work() {
	run_image >facts
	cat facts
	diff facts - <<-'END'
		de_DE.UTF-8 1.234.567,50
		Mittwoch 14:00 CEST
		Mittwoch 08:00 EDT
		app 1
		caught 42
	END
}
