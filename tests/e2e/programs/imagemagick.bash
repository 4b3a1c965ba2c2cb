# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="imagemagick fontconfig-config fonts-dejavu-core"

work() {
	local format
	volume pictures 65532
	OPTIONS=(-v "$WORK/pictures:/pictures")
	run_image -size 96x64 gradient:red-blue /pictures/a.png
	[ "$(head -c 8 pictures/a.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]
	run_image /pictures/a.png -resize 50% -quality 90 /pictures/a.jpg
	[ "$(head -c 3 pictures/a.jpg | od -An -tx1 | tr -d ' ')" = ffd8ff ]
	[ "$(run_image /pictures/a.jpg -format '%m %w %h' info:)" = "JPEG 48 32" ]
	for format in GIF TIFF WEBP BMP; do
		run_image /pictures/a.png "$format:/pictures/a.$format"
		[ "$(run_image "/pictures/a.$format" -format '%m %w %h' info:)" = "$format 96 64" ]
	done
	# Text is drawn, by a font that fontconfig finds.
	[ "$(run_image -font DejaVu-Sans -pointsize 40 label:Text -format '%k' info:)" -gt 20 ]
	# Names of colours and limits are from its files.
	run_image xc:tomato -format '%[pixel:u]' info: | grep -Eq '255, ?99, ?71|tomato'
	run run_image -size 20000x20000 xc:red /pictures/large.png
	[[ $output == *"exceeds limit"* ]]
	rm -r pictures
}
