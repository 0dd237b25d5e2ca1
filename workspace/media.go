package workspace

import "strings"

// mediaKind gives, for an extension in lower case with its dot, the kind of format that read_file refuses by name,
// before it looks at the disk. SVG, HTML, scripts and tables such as CSV are text.
func mediaKind(ext string) string {
	if ext == "" {
		return ""
	}
	for _, k := range []struct{ kind, extensions string }{
		{"an image", " png jpg jpeg jpe gif bmp tif tiff webp ico icns heic heif avif psd xcf cr2 nef dng jxl jp2 tga exr "},
		{"audio", " mp3 wav flac ogg oga opus m4a aac wma aif aiff mid midi amr ape "},
		{"video", " mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv vob "},
		{"a document", " pdf doc docx dotx docm odt ott rtf pages epub mobi azw azw3 djvu xps "},
		{"a spreadsheet", " xls xlsx xlsm xlsb xlt xltx ods ots numbers "},
		{"a slide deck", " ppt pptx pptm pps ppsx potx odp otp "},
		{"an archive", " zip tar gz tgz bz2 tbz tbz2 xz txz zst lz lz4 lzma 7z rar jar war ear whl egg deb rpm apk dmg iso img cab cpio ar z vsix crx nupkg gem "},
	} {
		if strings.Contains(k.extensions, " "+ext[1:]+" ") {
			return k.kind
		}
	}
	return ""
}
