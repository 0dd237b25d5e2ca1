package guards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toold/toold/workspace"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the original file\n", i+1)
	}
	return b.String()
}

func TestOrder(t *testing.T) {
	var names, codes []string
	for _, g := range New(Options{}).Guards() {
		names, codes = append(names, g.Name), append(codes, g.Code)
		if g.Tag == "" || g.Ops == 0 || g.Judge == nil {
			t.Errorf("%s is not whole", g.Name)
		}
	}
	want := []string{"binary path", "stage lane", "owed file", "escaped fence", "shrink", "reference", "lossy encoding", "stale", "elision"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	want = []string{"binary_path_guard", "stage_lane", "not_owed", "fence_guard", "shrink_guard", "reference_guard", "lossy_guard", "stale", "elision_guard"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
}

func TestGuardsLookAtTheirOperations(t *testing.T) {
	const all = workspace.OpWrite | workspace.OpEdit | workspace.OpRevert
	want := map[string]workspace.Op{
		"binary path": workspace.OpWrite | workspace.OpEdit, "stage lane": all, "owed file": workspace.OpWrite | workspace.OpEdit,
		"escaped fence": workspace.OpWrite | workspace.OpEdit, "shrink": workspace.OpWrite, "reference": workspace.OpWrite | workspace.OpEdit,
		"lossy encoding": workspace.OpWrite, "stale": workspace.OpWrite, "elision": workspace.OpWrite | workspace.OpEdit,
	}
	for _, g := range New(Options{}).Guards() {
		if g.Ops != want[g.Name] {
			t.Errorf("%s: %b, want %b", g.Name, g.Ops, want[g.Name])
		}
	}
}

func TestSecondAskGoesThrough(t *testing.T) {
	d := newDoor(t)
	d.put("big.md", numbered(100))
	for round := range 2 {
		r := d.refused(d.write("big.md", "short\n"), "shrink_guard", "big.md was not written", "edit_file", "again")
		if !r.Again || r.EndsTurn || r.Tag != "SHRINK-GUARD" {
			t.Errorf("round %d: %+v", round, r)
		}
		if d.has("big.md") != numbered(100) {
			t.Errorf("round %d: a refused write has changed the file", round)
		}
		d.passes(d.write("big.md", "another short text\n")) // not the same content: the path counts
		d.put("big.md", numbered(100))                      // and the guard is armed again
	}
}

func TestWhoseAsk(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	d.put("b.md", numbered(100))
	d.refused(d.write("a.md", "x"), "shrink_guard")
	for _, other := range []workspace.Actor{{Agent: "B", Run: "r1"}, {Agent: "A", Run: "r2"}} {
		d.actor = other
		d.refused(d.write("a.md", "x"), "shrink_guard")
	}
	d.actor = workspace.Actor{Agent: "A", Run: "r1", Client: "another client", Conn: "a later connection"}
	d.refused(d.write("b.md", "x"), "shrink_guard")
	d.passes(d.write("a.md", "x"))
}

func TestALinkIsTheSameFile(t *testing.T) {
	d := newDoor(t)
	d.put("real.md", numbered(100))
	alias := func() *workspace.Change {
		c := d.change(workspace.OpWrite, "real.md", "x")
		c.Path = "alias.md"
		return c
	}
	d.refused(d.apply(alias()), "shrink_guard", "alias.md")
	d.passes(d.write("real.md", "x"))
}

func TestAFailedWriteDoesNotSpendTheAsk(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	d.refused(d.write("a.md", "x"), "shrink_guard")
	if err := d.set.Check(context.Background(), d.change(workspace.OpWrite, "a.md", "x")); err != nil {
		t.Fatal(err) // let through; then the disk is full, and nobody settles it
	}
	d.passes(d.write("a.md", "x"))
	d.put("a.md", numbered(100))
	d.refused(d.write("a.md", "x"), "shrink_guard")
}

func TestAGoodWriteSpendsTheAsk(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	d.refused(d.write("a.md", "x"), "shrink_guard")
	d.passes(d.write("a.md", numbered(99)))
	d.refused(d.write("a.md", "x"), "shrink_guard")
}

func TestGuardsThatRefuseOnceSpeakTogether(t *testing.T) {
	d := newDoor(t)
	d.put("app.js", "document.getElementById('menu')")
	d.put("page.html", "<div id=menu>\n"+numbered(100)+"</div>")
	d.stale = &Stale{By: "B", When: "14:02", Hash: "h2"}
	damaged := "<div>\n<!-- ... existing code ... -->\n</div>"
	r := d.refused(d.write("page.html", damaged), "shrink_guard", "(1)", "discard", "(2)", "#menu", "app.js line 1", "(3)", "B at 14:02", "(4)", "existing code")
	var codes []string
	for _, o := range r.Evidence.([]*Objection) {
		codes = append(codes, o.Code)
	}
	if diff := cmp.Diff([]string{"shrink_guard", "reference_guard", "stale", "elision_guard"}, codes); diff != "" {
		t.Error(diff)
	}
	for _, tag := range []string{"[SHRINK-GUARD]", "[REF-GUARD]", "[STALE]", "[ELISION]"} {
		if !strings.Contains(d.log.String(), tag) {
			t.Errorf("the log lacks %s", tag)
		}
	}
	d.passes(d.write("page.html", damaged))
}

func TestEvidenceIsJSON(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", "first\n"+numbered(100)+"last\n")
	r := d.refused(d.write("a.md", "first\nlast\n"), "shrink_guard")
	b, err := json.Marshal(r.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Guard, Code, Lost, Do string
		Facts                 Shrinkage
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Code != "shrink_guard" || got[0].Facts.LostLines != 100 || got[0].Facts.OldLines != 102 {
		t.Errorf("%s", b)
	}
	if diff := cmp.Diff([]LineSpan{{2, 101}}, got[0].Facts.Lost); diff != "" {
		t.Error(diff)
	}
}

func TestANewObjectionIsHeard(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	d.refused(d.write("a.md", "x"), "shrink_guard")
	d.stale = &Stale{By: "B", Hash: "h2"}
	d.refused(d.write("a.md", "x"), "shrink_guard", "changed by B")
	d.stale = &Stale{By: "C", Hash: "h3"}
	d.refused(d.write("a.md", "x"), "shrink_guard", "changed by C")
	d.passes(d.write("a.md", "x"))
}

func TestRacingFirstAsks(t *testing.T) {
	d := newDoor(t)
	d.put("a.md", numbered(100))
	changes := make([]*workspace.Change, 64)
	for i := range changes {
		changes[i] = d.change(workspace.OpWrite, "a.md", "x")
	}
	errs := make([]error, len(changes))
	var wg sync.WaitGroup
	for i, c := range changes {
		wg.Go(func() { errs[i] = d.set.Check(context.Background(), c) })
	}
	wg.Wait()
	for _, err := range errs {
		d.refused(err, "shrink_guard")
	}
	d.passes(d.write("a.md", "x"))
}

func TestAJudgeThatFailsRefusesAndCountsNothing(t *testing.T) {
	d := newDoor(t)
	d.put("page.html", "<p id=a>"+numbered(100))
	d.put("app.js", "x")
	broken := func(broken map[string]error) *workspace.Change {
		c := d.change(workspace.OpWrite, "page.html", "<p>")
		c.FS = brokenFS{d.files, broken}
		return c
	}
	for range 2 {
		d.failed(d.apply(broken(map[string]error{"app.js": errors.New("input/output error")})), "reference", "input/output error", "does not count")
		d.failed(d.apply(broken(map[string]error{".": fs.ErrPermission})), "permission")
	}
	d.refused(d.write("page.html", "<p>"), "shrink_guard")
}

func TestAJudgeThatPanicsRefuses(t *testing.T) {
	d := newDoor(t)
	d.set.guards = []Guard{{Name: "odd", Code: "odd", Tag: "ODD", Ops: workspace.OpWrite, Refusals: 1, Judge: func(context.Context, *workspace.Change) (*Objection, error) {
		panic("index out of range")
	}}}
	for range 2 {
		d.failed(d.write("a.md", "x"), "odd", "index out of range")
	}
}

func TestAnUnreadableFile(t *testing.T) {
	d := newDoor(t)
	d.put("big.md", numbered(100))
	d.put("small.md", "x")
	unread := func(path, content string) *workspace.Change {
		c := d.change(workspace.OpWrite, path, content)
		c.Unread, c.Before = true, nil
		return c
	}
	for range 2 {
		d.failed(d.apply(unread("big.md", "y")), "cannot be read")
	}
	d.passes(d.apply(unread("small.md", "y")))
	d.failed(d.apply(unread("small.md", "caf\uFFFD")), "lossy")
	d.failed(d.apply(unread("small.md", "// ... existing code ...")), "elision")
}

func TestOtherOperationsAreNotJudged(t *testing.T) {
	d := newDoor(t)
	d.put("page.html", "<p id=a>"+numbered(100))
	d.put("app.js", "document.getElementById('a')")
	for _, op := range []workspace.Op{workspace.OpRevert, workspace.OpUndo, workspace.OpOperator, workspace.OpAppend} {
		d.passes(d.set.Check(context.Background(), d.change(op, "page.html", "\\`\\`\\`")))
		d.passes(d.set.Check(context.Background(), d.change(op, "page.png", "text")))
	}
}
