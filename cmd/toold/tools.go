package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/toold/toold/rpc/catalog"
	"github.com/toold/toold/rpc/tool"
)

func toolsCommand(g *globals) *cobra.Command {
	var asJSON, asMarkdown, asTypeScript bool
	c := &cobra.Command{Use: "tools", Short: "List the tools with parameters, tiers and aliases", Args: cobra.NoArgs}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, with schemas")
	c.Flags().BoolVar(&asMarkdown, "markdown", false, "as the reference page docs/tools.md")
	c.Flags().BoolVar(&asTypeScript, "typescript", false, "as the types of the editor extension")
	c.MarkFlagsMutuallyExclusive("json", "markdown", "typescript")
	c.RunE = func(c *cobra.Command, _ []string) error {
		infos := catalog.New().Infos()
		out := c.OutOrStdout()
		switch {
		case asJSON || g.output == "json":
			e := json.NewEncoder(out)
			e.SetIndent("", "  ")
			return e.Encode(infos)
		case asMarkdown:
			fmt.Fprint(out, tool.Markdown(infos))
			return nil
		case asTypeScript:
			fmt.Fprint(out, tool.TypeScript(infos))
			return nil
		}
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		for _, t := range infos {
			fmt.Fprintf(w, "%s\t%s\t%s\n", tool.Signature(t), t.Tier, firstSentence(t.Description))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(out, "\n`toold call TOOL --help` has the parameters of one.")
		return nil
	}
	return c
}
