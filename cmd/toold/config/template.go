package config

// Template is what `toold config init` writes: every setting with its default, commented out.
const Template = `# The configuration of toold. Everything here is a default; remove the # to change it.
# toold config check tells whether the file is right, toold config show what is in force.

# idle_shutdown: 30m
# read: {max_context_bytes: 64KiB}     # 0 = never store and cut
# approvals: {mode: default, wait: 5m, keep: 1h}
# operator: {workspace_dir: ~/engagements, write_enabled: true}
# makers: {image: [comfyui_generate, capture_reference], pdf: [download_pdf]}
# budgets: {blobs: 5GiB, journal_days: 30, command_log_days: 90}
# workspaces:
#   - root: /home/me/proj
#     ignore: ["*.min.js"]
#     protected: [".envrc"]
#     limits: {max_file_bytes: 64MiB}
`
