package main

import (
	"slices"
	"testing"
	"time"
)

// stopwatch keeps the time of each run of one side of a comparison.
type stopwatch []time.Duration

func (s *stopwatch) time(f func()) {
	begun := time.Now()
	f()
	*s = append(*s, time.Since(begun))
}

func (s stopwatch) median() time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)/2]
}

// report gives the medians of both sides and their ratio.
func report(b *testing.B, ours, peer stopwatch, name string) {
	b.ReportMetric(float64(ours.median().Microseconds()), "µs/ours")
	b.ReportMetric(float64(peer.median().Microseconds()), "µs/"+name)
	b.ReportMetric(float64(ours.median())/float64(peer.median()), "x/"+name)
}
