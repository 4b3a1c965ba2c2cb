# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="perl"

work() {
	# shellcheck disable=SC2016 # Perl's variables
	run_image -MPOSIX=floor,strftime -MList::Util=sum,shuffle -MDigest::SHA=sha256_hex -MEncode=encode,decode -MSocket -MTime::HiRes \
		-MStorable=dclone -MData::Dumper -MFile::Find -MJSON::PP -e '
		printf "%d %s\n", floor(-1.5), strftime("%Y-%m-%d", gmtime(86400));
		print sum(1..100), " ", substr(sha256_hex("slipway"), 0, 8), " ", length(encode("UTF-8", decode("iso-8859-1", "\xfc"))), "\n";
		print +(getpwuid($<))[0], " ", (lc "\x{c4}\x{416}") eq "\x{e4}\x{436}" ? "unicode" : "bytes", " ", encode_json(dclone([1, {a => 2}])), "\n";
		# Every module that is a shared library, and with it what it needs.
		my $n = 0;
		for my $top (grep { m|/usr/lib/.*perl| && -d "$_/auto" } @INC) {
			find(sub {
				return unless /\.so$/;
				my $module = $File::Find::dir =~ s|^\Q$top\E/auto/||r =~ s|/|::|gr;
				eval "require $module; 1" or print "$module: $@";
				$n++;
			}, "$top/auto");
		}
		print $n > 40 ? "all loaded\n" : "only $n\n";' >facts
	cat facts
	diff facts - <<-END
		-2 1970-01-02
		5050 $(printf slipway | sha256sum | cut -c 1-8) 2
		app unicode [1,{"a":2}]
		all loaded
	END
}
