const overview = `Usage: contract-check <command> [options]

Tells which version bump a change of a contract needs, and fails when a smaller one is declared.

Commands:
  graphql       compare two GraphQL schemas (SDL)
  json-schema   compare two JSON Schemas, by direction
  manifest      compare two manifests: errors, headers, limits, page sizes, cost weights
  workspace     compare every contract package with its last release and its pending changesets

Options:
  --help        help; after a command, the help of that command
  --version     the version of this tool

Exit: 0 fine, 1 the declared bump is too small or a released version is broken, 2 wrong usage or unreadable input.
`;

const files = `  --from FILE          the old version (required)
  --to FILE            the new version (required)`;

const output = `  --declared VERDICT   none, patch, minor or major: exit 1 when the verdict is larger
  --format FORMAT      text (default) or json`;

const closed = `  --closed-outputs     clients may rely on knowing every value that they are sent: growth is major, not minor`;

const commands: Readonly<Record<string, string>> = {
  graphql: `Usage: contract-check graphql --from OLD.graphql --to NEW.graphql [options]

Compares two GraphQL schemas, each whole in one file.

Options:
${files}
${closed}
  --directive NAME=VERDICT
                       the verdict of every change of an applied directive (without it: @constraint and the like are
                       understood, changes of unknown directives are major); can be repeated
${output}
`,
  'json-schema': `Usage: contract-check json-schema --from OLD.json --to NEW.json --direction DIRECTION [options]

Compares two JSON Schemas (draft 4 to 2020-12), each whole in one file.

Options:
${files}
  --direction DIRECTION
                       producer: we send what the schema describes; consumer: we accept it; both (required)
${closed}
${output}
`,
  manifest: `Usage: contract-check manifest --from OLD.json --to NEW.json [options]

Compares two manifests: what a contract promises beside its schema. Their format is manifest.schema.json, in this
package.

Options:
${files}
${output}
`,
  workspace: `Usage: contract-check workspace [options]

Compares every contract package of a workspace with its last release, and the bump that this needs with the one that
the pending changesets declare. A contract package holds versions/*.graphql, versions/*.manifest.json or
json-schema/**/*.json; what was last released is in its folder released/.

Options:
  --root DIR           the workspace (default: the current folder)
  --baseline PLACE     a folder or a tarball (npm pack) of what was released, in place of released/; can be repeated
  --format FORMAT      text (default) or json
`,
};

export function helpOf(command: string | null): string {
  return (command === null ? undefined : commands[command]) ?? overview;
}
