package edit

import (
	"bytes"
	"fmt"
	"testing"
)

// source makes a text of n lines that look like code, all different.
func source(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "func handler%d(ctx context.Context, in *Request) error {\n", i)
		case 4:
			fmt.Fprintf(&b, "} // %d\n", i)
		default:
			fmt.Fprintf(&b, "\tvalue%d := compute(ctx, in.Field%d, %d)\n", i, i, i*7)
		}
	}
	return b.Bytes()
}

func benchApply(b *testing.B, text []byte, req Request) {
	b.Helper()
	req.Path = "f.go"
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Apply(text, true, req)
	}
}

func BenchmarkExact10k(b *testing.B) {
	benchApply(b, source(10_000), Request{Search: "value7003 := compute", Replace: "renamed := compute"})
}

func BenchmarkExactCRLF10k(b *testing.B) {
	text := bytes.ReplaceAll(source(10_000), []byte("\n"), []byte("\r\n"))
	benchApply(b, text, Request{Search: "\tvalue7003 := compute(ctx, in.Field7003, 49021)\n} // 7004\n", Replace: "}\n"})
}

func BenchmarkTolerant50k(b *testing.B) {
	benchApply(b, source(50_000), Request{Search: "    value44003 := compute(ctx,  in.Field44003, 308021)\n    } // 44004", Replace: "    }\n"})
}

func BenchmarkMiss50k(b *testing.B) {
	benchApply(b, source(50_000), Request{Search: "    value44003 := compute(ctx, in.Field44003, 308022)\n    } // 44004", Replace: "    }\n"})
}

func BenchmarkMissNoLineEqual50k(b *testing.B) {
	benchApply(b, source(50_000), Request{Search: "valve44003 := compote(ctx, in.Field44003, 308022)", Replace: "x"})
}

func BenchmarkMissRepetitive50k(b *testing.B) {
	text := bytes.Repeat([]byte("\t}\n"), 50_000)
	benchApply(b, text, Request{Search: string(bytes.Repeat([]byte("}\n"), 2000)) + "x\n", Replace: "x"})
}

func BenchmarkDiff50k(b *testing.B) {
	old := source(50_000)
	few := bytes.ReplaceAll(old, []byte("value1"), []byte("other1"))
	all := bytes.ReplaceAll(old, []byte("value"), []byte("other"))
	for name, fresh := range map[string][]byte{"same": old, "half": few, "most": all, "none": bytes.ToUpper(old)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Diff(old, fresh).Rebase(44003, 44003)
			}
		})
	}
}
