package run

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// clean is the workspace's normalisation, as far as these tests need it.
func clean(p string) (string, error) {
	p = path.Clean(strings.TrimPrefix(strings.TrimSpace(p), "/workspace/"))
	if strings.HasPrefix(p, "..") {
		return "", errors.New("it leads out of the workspace")
	}
	return p, nil
}

func TestParseOutput(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want Output
	}{
		{"notes.md", Output{Path: "notes.md"}},
		{"  ./show/../notes.md ", Output{Path: "notes.md"}},
		{"/workspace/a/b.txt", Output{Path: "a/b.txt"}},
		{"show/episode-01-script.md words 400-520", Output{Path: "show/episode-01-script.md", Words: true, Min: 400, Max: 520}},
		{"a.md  words  0 – 10", Output{Path: "a.md", Words: true, Min: 0, Max: 10}},
		{"my own file.md words 5-5", Output{Path: "my own file.md", Words: true, Min: 5, Max: 5}},
		{"in other words.md", Output{Path: "in other words.md"}},
		{"last words 2024 edition.md", Output{Path: "last words 2024 edition.md"}},
		{"words 400-520 words 1-2", Output{Path: "words 400-520", Words: true, Min: 1, Max: 2}},
		{"art/cover.png", Output{Path: "art/cover.png"}},
	} {
		got, err := ParseOutput(tt.spec, clean)
		if err != nil {
			t.Errorf("%q: %v", tt.spec, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.spec, diff)
		}
		if again, err := ParseOutput(got.String(), clean); err != nil || again != got {
			t.Errorf("%q: read again as %v, %v", got, again, err)
		}
	}
}

func TestParseOutputRefuses(t *testing.T) {
	for spec, hint := range map[string]string{
		"":                          "no path",
		"   ":                       "no path",
		".":                         "folder",
		"../x.md":                   "leads out",
		"a.md words 400":            "a range such as",
		"a.md words 500-400":        "ends before it begins",
		"a.md words 1-2-3":          "a range such as",
		"cover.PNG words 10-20":     "no words to count",
		"a.md words 1-999999999999": "a range such as",
	} {
		_, err := ParseOutput(spec, clean)
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v; want a hint at %q", spec, err, hint)
		}
	}
}

func TestParseOutputsCountsAFileOnce(t *testing.T) {
	got, err := ParseOutputs([]string{"a.md", "./a.md words 1-2", "b.md", "a.md"}, clean)
	if err != nil {
		t.Fatal(err)
	}
	want := []Output{{Path: "a.md", Words: true, Min: 1, Max: 2}, {Path: "b.md"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseStages(t *testing.T) {
	got, err := ParseStages([]byte(`[
		{"name": "writer", "required_output": ["./ep.md words 10-20", "notes.txt"]},
		{"name": "checker", "checker": true, "report": "/workspace/report.md"}
	]`), clean)
	if err != nil {
		t.Fatal(err)
	}
	want := []Stage{
		{Name: "writer", Outputs: []Output{{Path: "ep.md", Words: true, Min: 10, Max: 20}, {Path: "notes.txt"}}},
		{Name: "checker", Checker: true, Report: "report.md"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for raw, hint := range map[string]string{
		`{}`:                                        "stages is a list",
		`[{"name":"a","require":[]}]`:               "unknown field",
		`[{"required_output":["a"]}]`:               "no name",
		`[{"name":"a"},{"name":"a"}]`:               "two stages",
		`[{"name":"a","required_output":["../x"]}]`: `stage "a"`,
		`[{"name":"a","report":"../x"}]`:            "report",
	} {
		if _, err := ParseStages([]byte(raw), clean); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v; want a hint at %q", raw, err, hint)
		}
	}
	if s, err := ParseStages(nil, clean); s != nil || err != nil {
		t.Errorf("no stages: %v, %v", s, err)
	}
}

func TestParseTeam(t *testing.T) {
	for in, want := range map[string]Team{"": Parallel, "parallel": Parallel, "sequential": Sequential} {
		if got, err := ParseTeam(in); got != want || err != nil {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
	if _, err := ParseTeam("serial"); err == nil {
		t.Error("an unknown team passes")
	}
}

func TestCheckText(t *testing.T) {
	words := Output{Path: "ep.md", Words: true, Min: 3, Max: 5}
	for _, tt := range []struct {
		name    string
		output  Output
		content string
		existed bool
		want    Status
		words   int
	}{
		{"not there", words, "", false, Missing, 0},
		{"no bytes", words, "", true, Empty, 0},
		{"blanks only", words, " \n\t\n", true, Empty, 0},
		{"one short", words, "one two", true, WordsShort, 2},
		{"lower border", words, "one two three", true, OK, 3},
		{"upper border", words, "one two three four five", true, OK, 5},
		{"one over", words, "1 2 3 4 5 6", true, WordsOver, 6},
		{"any text without a range", Output{Path: "a.go"}, "x", true, OK, 0},
		{"marks only", words, "# --- ***", true, WordsShort, 0},
	} {
		got := Check(tt.output, []byte(tt.content), tt.existed)
		if got.Status != tt.want || got.Words != tt.words {
			t.Errorf("%s: %s with %d words; want %s with %d", tt.name, got.Status, got.Words, tt.want, tt.words)
		}
		if got.Detail == "" {
			t.Errorf("%s: no detail", tt.name)
		}
	}
	if r := Check(words, []byte("one two"), true); !strings.Contains(r.Detail, "2 words") || !strings.Contains(r.Detail, "3 to 5") {
		t.Errorf("the count is missing: %s", r.Detail)
	}
}

func TestCheckBinary(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar[257:], "ustar")
	iso := make([]byte, HeaderBytes)
	copy(iso[32769:], "CD001")
	stl := append(make([]byte, 80), 1, 0, 0, 0)
	stl = append(stl, make([]byte, 50)...)
	good := map[string]string{
		"a.png": "\x89PNG\r\n\x1a\n\x00", "a.JPG": "\xff\xd8\xff\xe0\x00\x10JFIF", "a.gif": "GIF89a\x01", "a.webp": "RIFF\x10\x00\x00\x00WEBPVP8 ",
		"a.bmp": "BM6", "a.tiff": "MM\x00*", "a.ico": "\x00\x00\x01\x00\x01", "a.avif": "\x00\x00\x00\x20ftypavif", "a.psd": "8BPS\x00\x01",
		"a.pdf": "\n%PDF-1.7\n", "a.docx": "PK\x03\x04\x14", "a.xlsx": "PK\x03\x04", "a.odt": "PK\x03\x04", "a.epub": "PK\x03\x04", "a.doc": ole,
		"a.zip": "PK\x05\x06", "a.jar": "PK\x03\x04", "a.tar.gz": "\x1f\x8b\x08", "a.7z": "7z\xbc\xaf\x27\x1c", "a.tar": string(tar), "a.iso": string(iso),
		"a.mp3": "ID3\x04", "b.mp3": "\xff\xfb\x90", "a.wav": "RIFF\x00\x00\x00\x00WAVEfmt ", "a.flac": "fLaC", "a.ogg": "OggS", "a.m4a": "\x00\x00\x00\x20ftypM4A ", "a.mid": "MThd",
		"a.mp4": "\x00\x00\x00\x18ftypmp42", "a.mov": "\x00\x00\x00\x08wide", "a.mkv": "\x1aE\xdf\xa3", "a.webm": "\x1aE\xdf\xa3", "a.avi": "RIFF\x00\x00\x00\x00AVI LIST",
		"a.ttf": "\x00\x01\x00\x00\x00", "a.woff2": "wOF2", "a.so": "\x7fELF\x02", "a.exe": "MZ\x90", "a.class": "\xca\xfe\xba\xbe", "a.wasm": "\x00asm\x01",
		"a.sqlite": "SQLite format 3\x00", "a.blend": "BLENDER-v300", "b.blend": "\x28\xb5\x2f\xfd", "a.glb": "glTF\x02", "a.usdz": "PK\x03\x04", "a.3ds": "MM\x00", "a.uasset": "\xc1\x83\x2a\x9e",
		"a.fbx": "Kaydara FBX Binary  \x00\x1a\x00", "b.fbx": "; FBX 7.3.0 project file\n", "c.fbx": "\n\nFBXHeaderExtension:  {\n",
		"a.stl": "solid cube\n facet normal 0 0 0\n", "b.stl": string(stl), "a.ply": "ply\nformat ascii 1.0\n",
	}
	for name, head := range good {
		if r := Check(Output{Path: name}, []byte(head), true); r.Status != OK {
			t.Errorf("%s: %s (%s)", name, r.Status, r.Detail)
		}
		for _, stand := range []string{"This is a placeholder for the file.\n", "<html>nothing</html>", "{}"} {
			if r := Check(Output{Path: name}, []byte(stand), true); r.Status != HeaderWrong {
				t.Errorf("%s as text: %s", name, r.Status)
			}
		}
		if r := Check(Output{Path: name}, nil, true); r.Status != Empty {
			t.Errorf("%s without bytes: %s", name, r.Status)
		}
	}
	if r := Check(Output{Path: "a.png"}, []byte("\xff\xd8\xff\xe0"), true); r.Status != HeaderWrong || !strings.Contains(r.Detail, "ff d8 ff e0") {
		t.Errorf("a JPEG named .png: %s (%s)", r.Status, r.Detail)
	}
}

func TestFormatOf(t *testing.T) {
	for _, text := range []string{
		"a.ts", "a.mts", "a.obj", "a.key", "id.pub", "a.dot", "a.pot", "a.svg", "a.html", "a.rtf", "a.csv", "a.gltf", "a.usda", "a.eps", "go.mod", "Makefile", ".png", "png", "a.", "a.txt",
		"a.m3u8", "a.json", "a.bin.txt", "x.png/readme",
	} {
		if f, ok := FormatOf(text); ok {
			t.Errorf("%s is taken for %s", text, f.Name)
		}
	}
	for name, class := range map[string]Class{
		"a.PNG": Image, "dir/a.tar.gz": Archive, "a.pdf": PDF, "a.docx": Document, "a.mp3": Audio, "a.mkv": Video, "a.ttf": Font, "a.o": Object, "a.sqlite3": Database, "a.umap": Scene, "a.fbx": Scene,
	} {
		if f, ok := FormatOf(name); !ok || f.Class != class {
			t.Errorf("%s: %v %v, want %s", name, f.Class, ok, class)
		}
	}
	if f, _ := FormatOf("a.fbx"); !f.Text {
		t.Error(".fbx has a text form")
	}
}

func TestFormatsNameAnExtensionOnce(t *testing.T) {
	seen := map[string]string{}
	for _, f := range formats {
		for ext := range strings.FieldsSeq(f.exts) {
			if other, twice := seen[ext]; twice {
				t.Errorf(".%s is %s and %s", ext, other, f.Name)
			}
			seen[ext] = f.Name
		}
	}
}

func TestCheckNeverPanics(t *testing.T) {
	rapid.Check(t, checkNeverPanics)
}

func FuzzCheck(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkNeverPanics)) }

func checkNeverPanics(t *rapid.T) {
	f := rapid.SampledFrom(formats).Draw(t, "format")
	ext := rapid.SampledFrom(strings.Fields(f.exts)).Draw(t, "ext")
	content := rapid.SliceOf(rapid.Byte()).Draw(t, "content")
	r := Check(Output{Path: "a." + ext}, content, true)
	if len(content) == 0 != (r.Status == Empty) {
		t.Fatalf("%d bytes are %s", len(content), r.Status)
	}
}
