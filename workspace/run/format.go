package run

import (
	"bytes"
	"path"
	"strings"
)

// Class groups binary formats by the kind of tool that makes them. The words are the keys of the configuration's makers.
type Class string

// The classes.
const (
	Image    Class = "image"
	PDF      Class = "pdf"
	Document Class = "document"
	Archive  Class = "archive"
	Audio    Class = "audio"
	Video    Class = "video"
	Font     Class = "font"
	Object   Class = "object"
	Database Class = "database"
	Scene    Class = "3d"
)

// Format is a file format that is told by its name and proved by its first bytes.
type Format struct {
	Name  string // with its article, for sentences
	Class Class
	Text  bool // it has a text form too, so that a text tool may write it
	exts  string
	match func(head []byte) bool
}

// Matches tells whether a file with this beginning is of the format.
func (f Format) Matches(head []byte) bool { return f.match(head) }

// FormatOf gives the binary format that a file's name asks for, without looking at the case of letters. Names that
// serve text as well (.ts, .obj, .key, .dot, .svg, .rtf) have none.
func FormatOf(name string) (Format, bool) {
	base := path.Base(name)
	ext := strings.ToLower(path.Ext(base))
	if len(ext) < 2 || len(ext) == len(base) || strings.ContainsAny(ext, " ") {
		return Format{}, false
	}
	for _, f := range formats {
		if strings.Contains(" "+f.exts+" ", " "+ext[1:]+" ") {
			return f, true
		}
	}
	return Format{}, false
}

// formats is the table of formats: name, class, whether it has a text form, extensions, header.
var formats = []Format{
	{"a PNG image", Image, false, "png apng", begins("\x89PNG\r\n\x1a\n")},
	{"a JPEG image", Image, false, "jpg jpeg jpe jfif", begins("\xff\xd8\xff")},
	{"a GIF image", Image, false, "gif", begins("GIF87a", "GIF89a")},
	{"a BMP image", Image, false, "bmp dib", begins("BM")},
	{"a TIFF image", Image, false, "tif tiff dng nef arw", begins("II*\x00", "MM\x00*", "II+\x00", "MM\x00+")},
	{"a raw camera image", Image, false, "cr2", begins("II*\x00")},
	{"a WebP image", Image, false, "webp", riff("WEBP")},
	{"an icon image", Image, false, "ico", begins("\x00\x00\x01\x00", "\x00\x00\x02\x00")},
	{"a cursor image", Image, false, "cur", begins("\x00\x00\x02\x00", "\x00\x00\x01\x00")},
	{"an icon set", Image, false, "icns", begins("icns")},
	{"a HEIF image", Image, false, "heic heif avif", at(4, "ftyp")},
	{"a Photoshop image", Image, false, "psd psb", begins("8BPS")},
	{"a GIMP image", Image, false, "xcf", begins("gimp xcf")},
	{"a JPEG XL image", Image, false, "jxl", begins("\xff\x0a", "\x00\x00\x00\x0cJXL ")},
	{"a JPEG 2000 image", Image, false, "jp2 j2k jpx", begins("\x00\x00\x00\x0cjP  ", "\xff\x4f\xff\x51")},
	{"a TGA image", Image, false, "tga", targa},
	{"an OpenEXR image", Image, false, "exr", begins("\x76\x2f\x31\x01")},
	{"a Radiance image", Image, false, "hdr", begins("#?RADIANCE", "#?RGBE")},
	{"a DDS texture", Image, false, "dds", begins("DDS ")},
	{"a KTX texture", Image, false, "ktx ktx2", begins("\xabKTX ")},
	{"a QOI image", Image, false, "qoi", begins("qoif")},
	{"an Illustrator drawing", Image, false, "ai", begins("%PDF-", "%!PS")},

	{"a PDF document", PDF, false, "pdf", func(h []byte) bool { return bytes.Contains(h[:min(len(h), 1024)], []byte("%PDF-")) }},
	{"an Office document", Document, false, "docx docm dotx xlsx xlsm xltx pptx pptm ppsx potx vsdx", zip},
	{"an OpenDocument file", Document, false, "odt ods odp odg ott ots otp", zip},
	{"an old Office document", Document, false, "doc xls ppt pps vsd msg", begins(ole)},
	{"a binary workbook", Document, false, "xlsb", zip},
	{"an iWork document", Document, false, "pages numbers", zip},
	{"an e-book", Document, false, "epub", zip},
	{"an e-book", Document, false, "mobi azw azw3", at(60, "BOOKMOBI")},
	{"a DjVu document", Document, false, "djvu", begins("AT&TFORM")},
	{"an XPS document", Document, false, "xps oxps", zip},

	{"a ZIP archive", Archive, false, "zip jar war ear apk aab ipa xpi whl egg vsix nupkg kmz cbz aar", zip},
	{"a browser extension", Archive, false, "crx", begins("Cr24", "PK")},
	{"a gzip archive", Archive, false, "gz tgz", begins("\x1f\x8b")},
	{"a bzip2 archive", Archive, false, "bz2 tbz tbz2", begins("BZh")},
	{"an xz archive", Archive, false, "xz txz", begins("\xfd7zXZ\x00")},
	{"a Zstandard archive", Archive, false, "zst tzst", begins("\x28\xb5\x2f\xfd")},
	{"an LZ4 archive", Archive, false, "lz4", begins("\x04\x22\x4d\x18")},
	{"an lzip archive", Archive, false, "lz", begins("LZIP")},
	{"an LZMA archive", Archive, false, "lzma", begins("\x5d\x00\x00")},
	{"a 7-Zip archive", Archive, false, "7z", begins("7z\xbc\xaf\x27\x1c")},
	{"a RAR archive", Archive, false, "rar cbr", begins("Rar!\x1a\x07")},
	{"a tar archive", Archive, false, "tar gem", tar},
	{"a cabinet archive", Archive, false, "cab", begins("MSCF")},
	{"a Debian package", Archive, false, "deb udeb", begins("!<arch>\n")},
	{"an RPM package", Archive, false, "rpm", begins("\xed\xab\xee\xdb")},
	{"a cpio archive", Archive, false, "cpio", begins("0707", "\xc7\x71", "\x71\xc7")},
	{"a disc image", Archive, false, "iso", at(32769, "CD001")},
	{"a disk image", Archive, false, "dmg", notText},
	{"an installer", Archive, false, "msi", begins(ole)},

	{"an MP3 recording", Audio, false, "mp3", func(h []byte) bool { return begins("ID3")(h) || mpegFrame(h) }},
	{"a WAV recording", Audio, false, "wav wave", riff("WAVE")},
	{"a FLAC recording", Audio, false, "flac", begins("fLaC")},
	{"an Ogg recording", Audio, false, "ogg oga opus spx", begins("OggS")},
	{"an MPEG-4 recording", Audio, false, "m4a m4b", at(4, "ftyp")},
	{"an AAC recording", Audio, false, "aac", func(h []byte) bool { return begins("ADIF", "ID3")(h) || mpegFrame(h) }},
	{"a Windows Media recording", Audio, false, "wma", begins(asf)},
	{"an AIFF recording", Audio, false, "aif aiff aifc", func(h []byte) bool { return begins("FORM")(h) && at(8, "AIF")(h) }},
	{"a MIDI file", Audio, false, "mid midi", begins("MThd")},
	{"an AMR recording", Audio, false, "amr", begins("#!AMR")},
	{"a Monkey's Audio recording", Audio, false, "ape", begins("MAC ")},

	{"an MPEG-4 video", Video, false, "mp4 m4v 3gp 3g2 f4v", at(4, "ftyp")},
	{"a QuickTime video", Video, false, "mov qt", at(4, "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot")},
	{"a Matroska video", Video, false, "mkv webm mka", begins("\x1aE\xdf\xa3")},
	{"an AVI video", Video, false, "avi", riff("AVI ")},
	{"a Flash video", Video, false, "flv", begins("FLV")},
	{"a Flash film", Video, false, "swf", begins("FWS", "CWS", "ZWS")},
	{"a Windows Media video", Video, false, "wmv asf", begins(asf)},
	{"an MPEG video", Video, false, "mpg mpeg vob", begins("\x00\x00\x01\xba", "\x00\x00\x01\xb3", "\x47")},
	{"an Ogg video", Video, false, "ogv", begins("OggS")},

	{"a TrueType font", Font, false, "ttf", begins("\x00\x01\x00\x00", "true", "OTTO", "ttcf")},
	{"an OpenType font", Font, false, "otf", begins("OTTO", "\x00\x01\x00\x00", "ttcf")},
	{"a font collection", Font, false, "ttc otc", begins("ttcf")},
	{"a WOFF font", Font, false, "woff", begins("wOFF")},
	{"a WOFF2 font", Font, false, "woff2", begins("wOF2")},
	{"an embedded OpenType font", Font, false, "eot", at(34, "LP")},
	{"a PostScript font", Font, false, "pfb", begins("\x80\x01")},

	{"an object file", Object, false, "o ko", executable},
	{"a shared library", Object, false, "so dylib dll pyd node", executable},
	{"a program", Object, false, "exe sys elf", executable},
	{"a static library", Object, false, "a lib rlib", begins("!<arch>\n", "!<thin>\n", "\xca\xfe\xba\xbe")},
	{"a Java class", Object, false, "class", begins("\xca\xfe\xba\xbe")},
	{"Python bytecode", Object, false, "pyc pyo", at(2, "\r\n")},
	{"a WebAssembly module", Object, false, "wasm", begins("\x00asm")},
	{"Dalvik bytecode", Object, false, "dex", begins("dex\n")},
	{"Erlang bytecode", Object, false, "beam", begins("FOR1")},

	{"an SQLite database", Database, false, "sqlite sqlite3 db db3 s3db sl3", begins("SQLite format 3\x00")},
	{"an Access database", Database, false, "mdb accdb", at(4, "Standard ")},

	{"a Blender scene", Scene, false, "blend", begins("BLENDER", "\x1f\x8b", "\x28\xb5\x2f\xfd")},
	{"a glTF scene", Scene, false, "glb vrm", begins("glTF")},
	{"a USD scene", Scene, false, "usdz", zip},
	{"a USD scene", Scene, false, "usdc", begins("PXR-USDC")},
	{"a 3D Studio scene", Scene, false, "3ds", begins("MM")},
	{"a 3ds Max scene", Scene, false, "max", begins(ole)},
	{"a Cinema 4D scene", Scene, false, "c4d", at(0, "QC4D", "MC4D")},
	{"an Unreal asset", Scene, false, "umap uasset", begins("\xc1\x83\x2a\x9e", "\x9e\x2a\x83\xc1")},
	{"an FBX scene", Scene, true, "fbx", fbx},
	{"an STL model", Scene, true, "stl", stl},
	{"a PLY model", Scene, true, "ply", begins("ply\n", "ply\r\n")},
}

const (
	ole = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
	asf = "\x30\x26\xb2\x75\x8e\x66\xcf\x11"
)

func begins(magics ...string) func([]byte) bool { return at(0, magics...) }

func at(offset int, magics ...string) func([]byte) bool {
	return func(h []byte) bool {
		for _, m := range magics {
			if len(h) >= offset+len(m) && string(h[offset:offset+len(m)]) == m {
				return true
			}
		}
		return false
	}
}

func riff(form string) func([]byte) bool {
	return func(h []byte) bool { return begins("RIFF", "RF64", "RIFX")(h) && at(8, form)(h) }
}

func zip(h []byte) bool { return begins("PK\x03\x04", "PK\x05\x06", "PK\x07\x08")(h) }

func mpegFrame(h []byte) bool { return len(h) > 1 && h[0] == 0xff && h[1]&0xe0 == 0xe0 }

func executable(h []byte) bool {
	return begins("\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
		"\x4c\x01", "\x64\x86", "\x64\xaa", "\xc4\x01")(h)
}

func targa(h []byte) bool {
	return len(h) >= 18 && h[1] <= 1 && strings.IndexByte("\x01\x02\x03\x09\x0a\x0b", h[2]) >= 0
}

// tar knows the ustar mark, and older archives by the checksum of their first header.
func tar(h []byte) bool {
	if at(257, "ustar")(h) {
		return true
	}
	if len(h) < 512 {
		return false
	}
	sum, want := 8*int(' '), 0
	for i, b := range h[:512] {
		if i < 148 || i >= 156 {
			sum += int(b)
		}
	}
	for _, b := range bytes.Trim(h[148:156], " \x00") {
		if b < '0' || b > '7' {
			return false
		}
		want = want*8 + int(b-'0')
	}
	return sum == want && h[0] != 0
}

// fbx knows both forms: the binary one by its mark, the text one by its first comment or section.
func fbx(h []byte) bool {
	if begins("Kaydara FBX Binary  \x00")(h) {
		return true
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(h, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(text, []byte("; FBX")) || bytes.Contains(text, []byte("FBXHeaderExtension:"))
}

// stl knows the text form by its first word and its facets; the binary form has no mark but a count that is not zero.
func stl(h []byte) bool {
	if begins("solid")(h) && (bytes.Contains(h, []byte("facet")) || bytes.Contains(h, []byte("endsolid"))) {
		return true
	}
	return len(h) >= 84+50 && notText(h)
}

func notText(h []byte) bool { return bytes.IndexByte(h, 0) >= 0 }
