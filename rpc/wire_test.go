//go:build unix

package rpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMessages(t *testing.T) {
	r := newRig(t, Options{})
	for name, c := range map[string]struct{ send, want string }{
		"call":                  {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		"string id":             {`{"jsonrpc":"2.0","id":"x","method":"echo","params":{}}`, `"id":"x"`},
		"negative id":           {`{"jsonrpc":"2.0","id":-5,"method":"echo","params":{}}`, `"id":-5`},
		"no params":             {`{"jsonrpc":"2.0","id":1,"method":"note"}`, `"result"`},
		"not JSON":              {`{"jsonrpc":`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700`},
		"not JSON inside":       {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a" 1}}`, `"code":-32700`},
		"no frame":              {``, `"code":-32700`},
		"a number":              {`5`, `"code":-32600`},
		"no version":            {`{"id":1,"method":"echo"}`, `"code":-32600`},
		"no request":            {`{"jsonrpc":"2.0","id":1}`, `"code":-32600`},
		"fractional id":         {`{"jsonrpc":"2.0","id":1.5,"method":"echo"}`, `"code":-32600`},
		"id of bad bytes":       {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"echo\"}", `"id":null,"error":{"code":-32600`},
		"unknown method":        {`{"jsonrpc":"2.0","id":1,"method":"nope"}`, `"code":-32601`},
		"method of bad bytes":   {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `"code":-32601`},
		"panic":                 {`{"jsonrpc":"2.0","id":1,"method":"panic"}`, `"code":-32603`},
		"plain error":           {`{"jsonrpc":"2.0","id":1,"method":"plain error"}`, `{"code":-32603,"message":"it went wrong"}`},
		"typed error":           {`{"jsonrpc":"2.0","id":1,"method":"typed error"}`, "{\"code\":7,\"message\":\"seven \ufffd\",\"data\":{\"n\":7}}"},
		"lone surrogate":        {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\ud800"}}`, `"id":1,"error":{"code":-32602`},
		"lone low surrogate":    {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"x\uDC00"}}`, `"code":-32602`},
		"surrogates reversed":   {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\udc00\ud800"}}`, `"code":-32602`},
		"surrogate in a key":    {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"\ud800":1}}`, `"code":-32602`},
		"surrogate pair":        {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\ud83d\ude00"}}`, `"result":{"a":"\ud83d\ude00"}`},
		"escaped backslash":     {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":"\\ud800"}}`, `"result":{"a":"\\ud800"}`},
		"invalid UTF-8":         {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"a\":\"\xff\"}}", `"id":1,"error":{"code":-32602`},
		"surrogate as bytes":    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"a\":\"\xed\xa0\x80\"}}", `"code":-32602`},
		"result is made UTF-8":  {`{"jsonrpc":"2.0","id":1,"method":"bad text"}`, "a\ufffdb"},
		"result is no JSON":     {`{"jsonrpc":"2.0","id":1,"method":"bad JSON"}`, `"code":-32603`},
		"result has no JSON":    {`{"jsonrpc":"2.0","id":1,"method":"no JSON"}`, `"code":-32603`},
		"result becomes a line": {`{"jsonrpc":"2.0","id":1,"method":"spread JSON"}`, `"result":{"a":"b\n"}`},
		"nested deep":           {strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20), `"code":-32700`},
	} {
		t.Run(name, func(t *testing.T) {
			conn := r.raw()
			in := reader(conn)
			send(t, conn, note("nope", "{}")) // an error for a notification closes nothing
			send(t, conn, frame(c.send))
			if got := receive(t, in); !strings.Contains(strings.ReplaceAll(got, `\ufffd`, "\ufffd"), c.want) {
				t.Errorf("got %.300s, want %s in it", got, c.want)
			}
			send(t, conn, call(99, "echo", "{}"))
			if got := receive(t, in); !strings.Contains(got, `"id":99`) {
				t.Errorf("afterwards: %.300s", got)
			}
		})
	}
}

func TestLines(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	send(t, conn, `{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}`+"\n\r\n"+`{"jsonrpc":"2.0","id":2,"method":"nope"}`+"\r\n{broken\n"+
		`[{"jsonrpc":"2.0","id":3,"method":"spread JSON"}]`+"\n"+`{"jsonrpc":"2.0","id":4,"method":"initialize"}`)
	if err := conn.CloseWrite(); err != nil { // ends the last line, too
		t.Fatal(err)
	}
	var got []string
	for in := bufio.NewScanner(conn); in.Scan(); {
		got = append(got, in.Text())
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{`"id":1,"result":{"a":1}`, `"id":2,"error":{"code":-32601`, `"id":null,"error":{"code":-32700`, `[{"jsonrpc":"2.0","id":3,"result":{"a":"b\n"}}]`, `"id":4,"result"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no line has %s:\n%s", want, all)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d lines for 5 messages:\n%s", len(got), all)
	}
}

// TestOrder: calls see what the notifications before them, and initialize, have done.
func TestOrder(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	send(t, conn, call(0, "wait", "{}")) // does not hold the others up
	<-r.began
	var want []string
	for i := range 50 {
		text := fmt.Sprintf("[%d]", i)
		want = append(want, text)
		if i == 25 {
			send(t, conn, call("i", "initialize", text))
			continue
		}
		send(t, conn, note("note", text))
	}
	send(t, conn, call(1, "seen", "{}"))
	if got := parse(t, receive(t, in)); string(got.ID) != `"i"` || string(got.Result) != "26" {
		t.Errorf("initialize: %+v", got)
	}
	var got []string
	if err := json.Unmarshal(parse(t, receive(t, in)).Result, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestResponsesAreNotAnswered: two peers that answer each other's errors with errors would never end.
func TestResponsesAreNotAnswered(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	send(t, conn, frame(`{"jsonrpc":"2.0","id":1,"result":{}}`)+frame(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`)+call(2, "echo", "{}"))
	if got := parse(t, receive(t, reader(conn))); string(got.ID) != "2" {
		t.Errorf("got %+v", got)
	}
}

func TestSameIDTwice(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	send(t, conn, call(1, "wait", "{}")+call(1, "echo", "{}")+call("1", "echo", "{}"))
	if got := parse(t, receive(t, in)); got.Error == nil || got.Error.Code != CodeInvalidRequest {
		t.Errorf("got %+v", got)
	}
	if got := parse(t, receive(t, in)); string(got.ID) != `"1"` || got.Error != nil {
		t.Errorf("got %+v", got)
	}
}

func TestBatch(t *testing.T) {
	r := newRig(t, Options{MaxInFlight: 4})
	one := func(i int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"echo","params":[%d]}`, i, i)
	}
	many := make([]string, maxBatch+1)
	for i := range many {
		many[i] = one(i)
	}
	big := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"large"}`, 5)
	for name, c := range map[string]struct {
		send    string
		replies int // 0: one error that is no batch
		want    []string
	}{
		"empty":              {`[ ]`, 0, []string{"-32600", "empty"}},
		"numbers":            {`[1,2,3]`, 3, []string{"-32600"}},
		"nested":             {`[[]]`, 1, []string{"-32600"}},
		"mixed":              {`[` + one(1) + `,{"jsonrpc":"2.0","method":"note","params":[]},{"jsonrpc":"2.0","id":2,"method":"nope"},{"foo":"a,]b\""}]`, 3, []string{`"result":[1]`, "-32601", "-32600"}},
		"one":                {`[` + one(1) + `]`, 1, []string{`"result":[1]`}},
		"the same id":        {`[{"jsonrpc":"2.0","id":1,"method":"note"},{"jsonrpc":"2.0","id":1,"method":"note"}]`, 2, nil},
		"more than may run":  {`[` + strings.Join(many[:maxBatch], ",") + `]`, maxBatch, []string{`"result":[0]`, `"result":[999]`}},
		"too many":           {`[` + strings.Join(many, ",") + `]`, 0, []string{"-32600", "1001 messages"}},
		"cancelled inside":   {`[{"jsonrpc":"2.0","id":1,"method":"wait"},{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}]`, 1, []string{"-32800"}},
		"replies together":   {`[` + big + `,` + strings.ReplaceAll(big, "5", "6") + `,` + one(7) + `]`, 3, []string{`"id":5`, `"id":6`, `"result":[7]`}},
		"a call that panics": {`[{"jsonrpc":"2.0","id":1,"method":"panic"},` + one(2) + `]`, 2, []string{"-32603", `"result":[2]`}},
	} {
		t.Run(name, func(t *testing.T) {
			conn := r.raw()
			in := reader(conn)
			send(t, conn, frame(c.send))
			got := receive(t, in)
			var replies []json.RawMessage
			if err := json.Unmarshal([]byte(got), &replies); (err != nil) != (c.replies == 0) || len(replies) != c.replies {
				t.Errorf("%d replies, want %d: %.300s", len(replies), c.replies, got)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %s in %.300s", want, got)
				}
			}
			send(t, conn, frame(`[{"jsonrpc":"2.0","method":"note","params":[]}]`)+call(99, "echo", "{}")) // only notifications: no reply
			if got := receive(t, in); !strings.Contains(got, `"id":99`) {
				t.Errorf("afterwards: %.300s", got)
			}
		})
	}
}

// TestBatchTooLarge: the replies of a batch share a frame.
func TestBatchTooLarge(t *testing.T) {
	r := newRig(t, Options{FrameLimit: 2 << 20})
	conn := r.raw()
	var calls []string
	for i := range 10 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"large"}`, i))
	}
	send(t, conn, frame("["+strings.Join(calls, ",")+"]"))
	var got []reply
	if err := json.Unmarshal([]byte(receive(t, reader(conn))), &got); err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, m := range got {
		if m.Error == nil {
			whole++
		} else if !strings.Contains(m.Error.Message, "one by one") {
			t.Errorf("got %+v", m.Error)
		}
	}
	if len(got) != 10 || whole != 3 {
		t.Errorf("%d replies, %d of them whole", len(got), whole)
	}
}

func TestFrameLimit(t *testing.T) {
	const limit = 1 << 20
	r := newRig(t, Options{FrameLimit: limit})
	for _, lines := range []bool{false, true} {
		for _, c := range []struct {
			size int
			ok   bool
		}{{limit - 2000, true}, {limit, true}, {limit + 1, false}, {limit + 70000, false}, {5 * limit, false}} {
			t.Run(fmt.Sprint(lines, c.size), func(t *testing.T) {
				body := `{"jsonrpc":"2.0","id":1,"method":"note","params":["`
				body += strings.Repeat("x", c.size-len(body)-3) + `"]}`
				next := `{"jsonrpc":"2.0","id":2,"method":"echo","params":{}}`
				text := frame(body) + frame(next)
				if lines {
					text = body + "\n" + next + "\n"
				}
				conn := r.raw()
				go func() { _, _ = io.WriteString(conn, text) }()
				if got := nextMessage(t, conn, lines); c.ok != (got.Error == nil) || !c.ok && (got.Error.Code != CodeInvalidRequest || !strings.Contains(got.Error.Message, fmt.Sprint(limit))) {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
	t.Run("a reply", func(t *testing.T) {
		small := newRig(t, Options{FrameLimit: 100 << 10})
		err := small.client().Call(patience(t), "large", nil, nil)
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeInternal || !strings.Contains(e.Message, "ask for less") {
			t.Errorf("got %v", err)
		}
	})
}

// nextMessage reads the answers to two messages, of which the second is call 2, and gives the other.
func nextMessage(t *testing.T, conn io.Reader, lines bool) reply {
	t.Helper()
	in := newFrameReader(conn, FrameLimit, HeaderLimit)
	in.decided, in.lines = true, lines
	first, second := parse(t, receive(t, in)), parse(t, receive(t, in))
	if string(first.ID) == "2" {
		first, second = second, first // the calls run beside each other
	}
	if string(second.ID) != "2" {
		t.Errorf("afterwards: %+v", second)
	}
	return first
}

// TestPromisedFrame: the error for a frame that is too large comes before the frame has been sent.
func TestPromisedFrame(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	send(t, conn, "Content-Length: 1073741823\r\n\r\n")
	if got := parse(t, receive(t, reader(conn))); got.Error == nil || got.Error.Code != CodeInvalidRequest || !strings.Contains(got.Error.Message, "67108864") {
		t.Errorf("got %+v", got)
	}
}

// TestFullFrame: the real limit is the promised one.
func TestFullFrame(t *testing.T) {
	r := newRig(t, Options{})
	conn := r.raw()
	in := reader(conn)
	for _, c := range []struct{ size, code int }{{FrameLimit, CodeParse}, {FrameLimit + 1, CodeInvalidRequest}} {
		send(t, conn, frame(strings.Repeat("}", c.size)))
		if got := parse(t, receive(t, in)); got.Error == nil || got.Error.Code != c.code {
			t.Errorf("%d bytes: got %+v", c.size, got)
		}
	}
	c := r.client()
	if err := c.write(patience(t), make([]byte, FrameLimit+1)); err == nil || !strings.Contains(err.Error(), "the limit is 67108864") {
		t.Errorf("the client sent a frame that is too large: %v", err)
	}
}

func TestHeaders(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}`
	n := fmt.Sprint(len(body))
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"another case":          {"content-length: " + n + "\r\n\r\n" + body, true},
		"no blank":              {"Content-Length:" + n + "\r\n\r\n" + body, true},
		"a type":                {"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: " + n + "\r\n\r\n" + body, true},
		"bare ends of lines":    {"Content-Length: " + n + "\n\n" + body, true},
		"empty lines before":    {"\r\n\r\nContent-Length: " + n + "\r\n\r\n" + body, true},
		"the same twice":        {"Content-Length: " + n + "\r\nContent-Length: " + n + "\r\n\r\n" + body, true},
		"two values":            {"Content-Length: 5\r\nContent-Length: " + n + "\r\n\r\n" + body, false},
		"signed":                {"Content-Length: +" + n + "\r\n\r\n" + body, false},
		"negative":              {"Content-Length: -5\r\n\r\n" + body, false},
		"hexadecimal":           {"Content-Length: 0x10\r\n\r\n" + body, false},
		"overflow":              {"Content-Length: 99999999999999999999\r\n\r\n" + body, false},
		"no number":             {"Content-Length: \r\n\r\n" + body, false},
		"no length":             {"Content-Type: x\r\n\r\n" + body, false},
		"no colon":              {"garbage\r\n\r\n" + body, false},
		"a blank in the name":   {"POST http: //x\r\nContent-Length: " + n + "\r\n\r\n" + body, false},
		"binary":                {"\x16\x03\x01\x02\x00", false},
		"an endless name":       {strings.Repeat("a", HeaderLimit+readBuffer) + "\n", false},
		"endless headers":       {strings.Repeat("X: a\r\n", HeaderLimit) + "\r\n", false},
		"an unending last line": {"Content-Length: " + n + "\r\n" + strings.Repeat("a", 2*readBuffer), false},
	} {
		t.Run(name, func(t *testing.T) {
			in := newFrameReader(strings.NewReader(c.text), FrameLimit, HeaderLimit)
			got, err := in.next()
			var fe *frameError
			switch {
			case c.ok && (err != nil || string(got) != body):
				t.Errorf("got %q, %v", got, err)
			case !c.ok && (!errors.As(err, &fe) || !fe.fatal):
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestHTTP: who takes the socket for one of HTTP is told so in HTTP, and nothing in the request is a call.
func TestHTTP(t *testing.T) {
	r := newRig(t, Options{})
	body := `{"jsonrpc":"2.0","method":"note","params":["through HTTP"]}`
	for _, head := range []string{"GET / HTTP/1.1\r\nHost: localhost\r\n", "POST http://localhost/ HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n"} {
		conn := r.raw()
		send(t, conn, head+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
		if got := ended(t, conn); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "JSON-RPC socket") {
			t.Errorf("%q: got %q", head, got)
		}
	}
	var seen []string
	if err := r.client().Call(patience(t), "seen", nil, &seen); err != nil || len(seen) > 0 {
		t.Errorf("calls came through: %v %v", seen, err)
	}
}

// FuzzFrames reads whatever bytes come: it gives frames or errors, never panics, and never more than came.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{frame("{}"), "{}\n[]\n", "Content-Length: 3\r\n\r\nabc", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "Content-Length: 9999\r\n\r\n" + frame("{}")} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newFrameReader(strings.NewReader(string(data)), 1<<10, 100)
		for total := 0; ; {
			b, err := r.next()
			var fe *frameError
			if errors.As(err, &fe) && !fe.fatal {
				continue
			}
			if err != nil {
				return
			}
			if total += len(b); total > len(data) || len(b) > 1<<10 {
				t.Fatalf("%d bytes of frames out of %d, the last of %d", total, len(data), len(b))
			}
		}
	})
}

// FuzzWire sends whatever bytes come and nothing more: all that is answered is valid, and the server lives.
func FuzzWire(f *testing.F) {
	r := newRig(f, Options{FrameLimit: 64 << 10, MaxInFlight: 3})
	close(r.open)
	for _, s := range []string{
		call(1, "echo", `{"a":"\ud800"}`), frame("[1]") + call(2, "gate", "{}"), frame(`[{"jsonrpc":"2.0","id":"\udead","method":"large"},{"jsonrpc":"2.0","method":"exit"}]`),
		`{"jsonrpc":"2.0","id":1,"method":"spread JSON"}` + "\n" + `[{"jsonrpc":"2.0","id":"x","method":"typed error"}]`, "GET / HTTP/1.1\r\n\r\n", "Content-Length: 999999\r\n\r\n",
		note("initialize", "{}") + call(1, "initialize", "[]") + call(1, "panic", "{}") + note("$/cancelRequest", `{"id":1}`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "wait") || strings.Contains(string(data), "flood") {
			return // they end only with the connection
		}
		c, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conn := c.(*net.UnixConn)
		go func() { _, _ = conn.Write(data); _ = conn.CloseWrite() }()
		got := ended(t, conn)
		if strings.HasPrefix(got, "HTTP/1.1 400 ") {
			return
		}
		in := newFrameReader(strings.NewReader(got), FrameLimit, HeaderLimit)
		for {
			b, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || !json.Valid(b) || !utf8.Valid(b) {
				t.Fatalf("%v in the answer %q", err, got)
			}
		}
	})
}

// framesProperty: what is framed comes out as it went in, in both framings, however the bytes are cut.
func framesProperty(t *rapid.T) {
	lines := rapid.Bool().Draw(t, "lines")
	var text strings.Builder
	var want []string
	for range rapid.IntRange(1, 5).Draw(t, "n") {
		raw, err := json.Marshal(map[string]string{"a": rapid.String().Draw(t, "text")})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(raw))
		if lines {
			text.WriteString(string(raw) + "\n")
		} else {
			text.WriteString(frame(string(raw)))
		}
	}
	r := newFrameReader(&pieces{t: t, rest: text.String()}, FrameLimit, HeaderLimit)
	var got []string
	for {
		b, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// pieces reads a text in pieces of any size.
type pieces struct {
	t    *rapid.T
	rest string
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:rapid.IntRange(1, len(p.rest)).Draw(p.t, "piece")])
	p.rest = p.rest[n:]
	return n, nil
}

func TestFrames(t *testing.T)      { rapid.Check(t, framesProperty) }
func FuzzFramesRound(f *testing.F) { f.Fuzz(rapid.MakeFuzz(framesProperty)) }
func TestSurrogates(t *testing.T)  { rapid.Check(t, surrogatesProperty) }
func FuzzSurrogates(f *testing.F)  { f.Fuzz(rapid.MakeFuzz(surrogatesProperty)) }
func TestValid(t *testing.T)       { rapid.Check(t, validProperty) }
func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+7,"\u00e9\n",null,true,false,{}]}`, `[`, `"\x"`, `01`, `1.`, `-`, `nul`, ` [ ] `, `{"a" : 1 , "b":2}`, "\"\n\"", `1e`, "\xff", "[\"\xff\"]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := validJSON(data); got != json.Valid(data) {
			t.Fatalf("validJSON(%q) = %v", data, got)
		}
	})
}
func TestCountElements(t *testing.T) { rapid.Check(t, countProperty) }

// surrogatesProperty: exactly those texts are refused that Go's decoder would change.
func surrogatesProperty(t *rapid.T) {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{`\ud800`, `\udbff`, `\udc00`, `\uDFFF`, `\u0041`, `\ufffd`, `\\`, `\"`, `u`, `d800`, `\n`, `é`})).Draw(t, "parts")
	raw := `"` + strings.Join(parts, "") + `"`
	var text string
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		t.Fatal(err)
	}
	changed := strings.Count(text, "\ufffd") != strings.Count(strings.ReplaceAll(raw, `\\`, ""), `\ufffd`)
	if got := badSurrogate([]byte(raw)); got != changed {
		t.Fatalf("badSurrogate(%s) = %v", raw, got)
	}
}

// validProperty: pieces of JSON in any order are valid exactly when the standard library says so.
func validProperty(t *rapid.T) {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{`[`, `]`, `{`, `}`, `,`, `:`, `"a"`, `"\"`, `"\u12`, `aF"`, `"\/"`, `1`, `-`, `0`, `.5`, `e`, `+`, `E-3`, `true`, `fals`, `e`, `null`, ` `, "\n", "\x01", `"é"`})).Draw(t, "parts")
	raw := strings.Join(parts, "")
	if got := validJSON([]byte(raw)); got != json.Valid([]byte(raw)) {
		t.Fatalf("validJSON(%q) = %v", raw, got)
	}
}

// TestDepth: what is nested deeper than the decoder takes is not valid, neither here nor there.
func TestDepth(t *testing.T) {
	for _, n := range []int{1, maxDepth - 1, maxDepth, maxDepth + 1, 10 * maxDepth} {
		for _, s := range []string{strings.Repeat("[", n) + strings.Repeat("]", n), strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n), strings.Repeat("[", n) + "1" + strings.Repeat("]", n)} {
			if got := validJSON([]byte(s)); got != json.Valid([]byte(s)) {
				t.Errorf("validJSON(%d deep) = %v", n, got)
			}
		}
	}
}

// countProperty: the elements of an array are counted as the decoder does.
func countProperty(t *rapid.T) {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{`1`, `"a,]"`, `"\""`, `"\\"`, `{}`, `{"a":[1,2]}`, `[]`, `[1,[2,3]]`, `null`, ` {"b":"}"} `})).Draw(t, "parts")
	raw := " [" + strings.Join(parts, ",") + "] "
	if got := countElements([]byte(raw)); got != len(parts) {
		t.Fatalf("%d elements in %s", got, raw)
	}
}

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }
