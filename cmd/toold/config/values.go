package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Size is a number of bytes, written as 65536, 64KiB, 64MiB or 5GiB.
type Size int64

// UnmarshalYAML reads a size.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	v, err := ParseSize(n.Value)
	if err != nil || n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %q is no size; write bytes, or a number with KiB, MiB or GiB", n.Line, n.Value)
	}
	*s = Size(v)
	return nil
}

// ParseSize reads a number of bytes.
func ParseSize(text string) (int64, error) {
	factor := int64(1)
	for unit, f := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			text, factor = strings.TrimSpace(rest), f
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/factor {
		return 0, fmt.Errorf("no size")
	}
	return n * factor, nil
}

// String writes a size with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []struct {
		name  string
		bytes Size
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s > 0 && s%u.bytes == 0 {
			return fmt.Sprintf("%d%s", s/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalYAML writes a size as String does.
func (s Size) MarshalYAML() (any, error) { return s.String(), nil }

// Duration is a time, written as 30s, 5m or 1h30m; 0 is allowed without a unit.
type Duration time.Duration

// UnmarshalYAML reads a duration.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return fmt.Errorf("line %d: %q is no time; write it as 30s, 5m or 1h", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}

// String writes a duration.
func (d Duration) String() string {
	s := time.Duration(d).String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	if s == "" {
		return "0"
	}
	return s
}

// MarshalYAML writes a duration as String does.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }
