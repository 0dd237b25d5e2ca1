package run

import (
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestAskOnce(t *testing.T) {
	var a Asks
	ask := Ask{"A", "r", "f"}
	if !a.Refuse(ask, 1, a.Arrive(), "shrink") {
		t.Error("the first ask passes")
	}
	if a.Refuse(ask, 1, a.Arrive(), "shrink") {
		t.Error("the second ask is refused")
	}
	if a.Refuse(ask, 1, a.Arrive(), "shrink") {
		t.Error("a write that failed after the second ask has not spent it")
	}
	a.Spend(ask)
	if !a.Refuse(ask, 1, a.Arrive(), "shrink") {
		t.Error("after a write that went through the guard is armed again")
	}
}

func TestAskIsTheAgentsTheRunsAndTheFiles(t *testing.T) {
	var a Asks
	a.Refuse(Ask{"A", "r", "f"}, 1, a.Arrive(), "shrink")
	for _, other := range []Ask{{"B", "r", "f"}, {"A", "s", "f"}, {"A", "r", "g"}} {
		if !a.Refuse(other, 1, a.Arrive(), "shrink") {
			t.Errorf("%v passes by the ask of another", other)
		}
	}
}

func TestJudgesCountTogether(t *testing.T) {
	var a Asks
	ask := Ask{"A", "r", "f"}
	a.Refuse(ask, 1, a.Arrive(), "shrink", "reference")
	if a.Refuse(ask, 1, a.Arrive(), "shrink", "reference") {
		t.Error("the second ask is refused")
	}
	if a.Refuse(ask, 1, a.Arrive(), "reference") {
		t.Error("one of the judges alone refuses again")
	}
	if !a.Refuse(ask, 1, a.Arrive(), "shrink", "stale") {
		t.Error("a judge that has not spoken yet is passed over")
	}
	if a.Refuse(ask, 1, a.Arrive(), "shrink", "stale") {
		t.Error("it speaks twice")
	}
}

func TestSeveralRefusalsStayCounted(t *testing.T) {
	var a Asks
	ask := Ask{"A", "r", "f.md"}
	for i, want := range []bool{true, true, false, false} {
		if got := a.Refuse(ask, 2, a.Arrive(), "fence"); got != want {
			t.Errorf("ask %d: refused %v", i+1, got)
		}
		a.Spend(ask)
	}
	a.Forget("r")
	if !a.Refuse(ask, 2, a.Arrive(), "fence") {
		t.Error("a closed run is remembered")
	}
}

func TestACallThatCameBeforeTheRefusalIsNoSecondAsk(t *testing.T) {
	var a Asks
	ask := Ask{"A", "r", "f"}
	one, two, three := a.Arrive(), a.Arrive(), a.Arrive()
	for _, at := range []int64{two, one, three} {
		if !a.Refuse(ask, 2, at, "fence") {
			t.Errorf("the call that came in at %d passes", at)
		}
	}
	if !a.Refuse(ask, 2, a.Arrive(), "fence") {
		t.Error("racing calls are one ask, so this is the second of two refusals")
	}
	if a.Refuse(ask, 2, a.Arrive(), "fence") {
		t.Error("the third ask is refused")
	}
	for range 3 {
		if !a.Refuse(Ask{"A", "r", "g"}, 1, 0, "x") {
			t.Error("a call of which nobody knows when it came in passes")
		}
	}
}

func TestRacingFirstAsksAreAllRefused(t *testing.T) {
	var a Asks
	ask := Ask{"A", "r", "f"}
	var wg sync.WaitGroup
	arrived, refused := make([]int64, 64), make([]bool, 64)
	for i := range arrived {
		arrived[i] = a.Arrive()
	}
	for i := range arrived {
		wg.Go(func() { refused[i] = a.Refuse(ask, 1, arrived[i], "shrink") })
	}
	wg.Wait()
	for i, r := range refused {
		if !r {
			t.Errorf("call %d slipped through", i)
		}
	}
	if a.Refuse(ask, 1, a.Arrive(), "shrink") {
		t.Error("the ask after them is refused")
	}
}

func TestCallsThatComeInWhileARefusalIsNotGivenAreFirstAsks(t *testing.T) {
	var a Asks
	ask := Ask{"A", "r", "f"}
	var during []bool
	waits := 0
	a.Wait = func() {
		waits++
		for range 3 {
			during = append(during, a.Refuse(ask, 1, a.Arrive(), "shrink"))
		}
	}
	if !a.Refuse(ask, 1, a.Arrive(), "shrink") {
		t.Error("the first ask passes")
	}
	for _, refused := range during {
		if !refused {
			t.Error("a call that came in before the refusal was given passes")
		}
	}
	if waits != 1 {
		t.Errorf("%d waits for one refusal that counts", waits)
	}
	if a.Refuse(ask, 1, a.Arrive(), "shrink") || waits != 1 {
		t.Error("the second ask is refused, or waits")
	}
}

func TestAsksProperty(t *testing.T) { rapid.Check(t, asksProperty) }

// asksProperty: whatever the order of judging, a call passes only when a refusal of each of its judges was made after
// the last write and before the call came in.
func asksProperty(t *rapid.T) {
	var a Asks
	ask := Ask{"A", "r", "f"}
	judges := []string{"shrink", "reference", "stale"}
	waiting, refusedAt := []int64{}, map[string]int64{}
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		if len(waiting) == 0 || rapid.Bool().Draw(t, "arrive") {
			waiting = append(waiting, a.Arrive())
			continue
		}
		i := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
		at := waiting[i]
		waiting = append(waiting[:i], waiting[i+1:]...)
		object := rapid.SliceOfNDistinct(rapid.SampledFrom(judges), 1, 3, rapid.ID).Draw(t, "judges")
		if a.Refuse(ask, 1, at, object...) {
			for _, j := range object {
				refusedAt[j] = a.Arrive()
			}
			continue
		}
		for _, j := range object {
			if when, ok := refusedAt[j]; !ok || at < when {
				t.Fatalf("a call of %d passes %s, which refused at %d (%v)", at, j, when, ok)
			}
		}
		a.Spend(ask)
		refusedAt = map[string]int64{}
	}
}
