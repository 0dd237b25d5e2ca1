package guards

import (
	"testing"

	"github.com/toold/toold/workspace"
	"github.com/toold/toold/workspace/run"
)

func TestBinaryPath(t *testing.T) {
	d := newDoor(t)
	for path, part := range map[string]string{
		"a.png": "comfyui_generate or capture_reference", "dir/A.JPEG": "capture_reference", "a.pdf": "download_pdf",
		"a.zip": "pack them", "a.tar.gz": "pack them", "a.mp3": "run_shell", "a.mp4": "run_shell", "a.woff2": "run_shell", "a.o": "source", "a.wasm": "source",
		"a.sqlite": "sqlite3", "a.docx": "convert", "a.xlsx": "convert", "a.pptx": "convert",
		"a.blend": "Nothing in the workspace makes", "a.glb": "stand-in", "a.usdz": "stand-in", "a.3ds": "stand-in", "a.umap": "stand-in", "a.uasset": "stand-in",
	} {
		for range 3 { // there is no second ask
			r := d.refused(d.write(path, "text"), "binary_path_guard", part)
			if r.Again || r.Tag != "BINARY-PATH" {
				t.Errorf("%s: %+v", path, r)
			}
		}
		d.put(path, "x")
		d.refused(d.edit(path, "x", "y"), "binary_path_guard", part, "not edited")
		if d.has(path) != "x" {
			t.Errorf("%s was changed", path)
		}
	}
	for _, path := range []string{"a.fbx", "a.svg", "a.html", "a.ts", "a.obj", "a.stl", "a.gltf", "a.csv", "go.mod", "a.key", "png", ".gz"} {
		d.passes(d.write(path, "text"))
	}
}

func TestBinaryPathLooksThroughLinks(t *testing.T) {
	d := newDoor(t)
	c := d.change(workspace.OpWrite, "image.png", "text")
	c.Path = "notes.txt"
	d.refused(d.apply(c), "binary_path_guard", "image.png")
}

func TestMakersComeFromTheConfiguration(t *testing.T) {
	d := newDoor(t)
	d.set = New(Options{Asks: d.asks, Makers: map[run.Class][]string{run.Image: {"draw_image"}, run.Audio: {"speak"}, run.Scene: {"model_3d"}}})
	d.refused(d.write("a.png", "x"), "binary_path_guard", "Make it with draw_image")
	d.refused(d.write("a.wav", "x"), "binary_path_guard", "Make it with speak")
	d.refused(d.write("a.glb", "x"), "binary_path_guard", "Make it with model_3d")
	d.refused(d.write("a.pdf", "x"), "binary_path_guard", "Make it with download_pdf")

	d.set = New(Options{Asks: d.asks, Turns: d.turns, MakersOf: func(a workspace.Actor) map[run.Class][]string {
		return map[run.Class][]string{run.Image: {"of " + a.Agent}}
	}})
	d.refused(d.write("a.png", "x"), "binary_path_guard", "Make it with of A")
	d.refused(d.write("a.pdf", "x"), "binary_path_guard", "Make it with download_pdf")
	d.begin("t1", run.Plan{Tools: run.Toolset{Makers: map[run.Class][]string{run.Image: {"of the turn"}}}})
	d.refused(d.write("a.png", "x"), "binary_path_guard", "Make it with of the turn")
}
