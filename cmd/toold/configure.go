package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toold/toold/cmd/toold/config"
)

func configCommand(g *globals) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "The configuration: check it, show it, begin one"}
	c.AddCommand(
		&cobra.Command{Use: "check", Short: "Tell whether the file is right", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			path, err := config.Path(g.config)
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			if _, err := config.Load(path, g.config != ""); err != nil {
				return fail(exitFailed, "%w", err)
			}
			if _, err := os.Stat(path); err != nil {
				fmt.Fprintf(c.OutOrStdout(), "%s does not exist; the defaults are in force. `toold config init` writes one\n", path)
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "%s is right\n", path)
			return nil
		}},
		&cobra.Command{Use: "show", Short: "Print what is in force and where each value comes from", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			path, err := config.Path(g.config)
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			text, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fail(exitFailed, "%w", err)
			}
			shown, err := config.Show(text, nil)
			if err != nil {
				return fail(exitFailed, "%s:%w", path, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "# %s\n%s", path, shown)
			return nil
		}},
		&cobra.Command{Use: "init", Short: "Write a file with every setting commented out", Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			path, err := config.Path(g.config)
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return fail(exitFailed, "%w", err)
			}
			f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return fail(exitFailed, "%s exists already; toold leaves it as it is", path)
			}
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			if _, err := f.WriteString(config.Template); err != nil {
				f.Close()
				return fail(exitFailed, "%w", err)
			}
			fmt.Fprintf(c.OutOrStdout(), "wrote %s\n", path)
			return f.Close()
		}},
	)
	return c
}
