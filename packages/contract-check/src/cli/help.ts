const overview = `Usage: contract-check <command> [options]

Reports the version bump that a contract change needs, and fails if the declared bump is smaller.

Commands:
  graphql       compare two GraphQL schemas (SDL)
  json-schema   compare two JSON Schemas in a direction
  manifest      compare two manifests: errors, headers, limits, page sizes, cost weights
  workspace     compare every contract package with its last release and its pending changesets

Options:
  --help        print this help, or the help of a command
  --version     print the version

Exit codes:
  0  passed
  1  the declared bump is too small, or a released version is broken
  2  invalid usage or invalid input
`;

const files = `  --from FILE          old version (required)
  --to FILE            new version (required)`;

const output = `  --declared VERDICT   none, patch, minor or major; exit 1 if the verdict is larger
  --format FORMAT      text or json (default: text)`;

const closed = `  --closed-outputs     treat values and types added to outputs as major: clients may handle only known ones`;

const commands: Readonly<Record<string, string>> = {
  graphql: `Usage: contract-check graphql --from OLD.graphql --to NEW.graphql [options]

Compares two GraphQL schemas. Each file contains a complete schema.

Options:
${files}
${closed}
  --directive NAME=VERDICT
                       set the verdict for changes of an applied directive; repeatable. By default, changes of
                       @constraint and similar directives are compared, and changes of other directives are major
${output}
`,
  'json-schema': `Usage: contract-check json-schema --from OLD.json --to NEW.json --direction DIRECTION [options]

Compares two JSON Schemas, draft 4 to 2020-12. Each file contains a complete schema.

Options:
${files}
  --direction DIRECTION
                       producer: you send what the schema describes; consumer: you accept it; both: the larger verdict
                       (required)
${closed}
${output}
`,
  manifest: `Usage: contract-check manifest --from OLD.json --to NEW.json [options]

Compares two manifests. A manifest lists what a contract promises in addition to its schema. The package contains the
JSON Schema of manifests, manifest.schema.json.

Options:
${files}
${output}
`,
  workspace: `Usage: contract-check workspace [options]

Compares every contract package of a workspace with its last release, and the bump that the changes need with the bump
that the pending changesets declare. A contract package contains versions/*.graphql, versions/*.manifest.json or
json-schema/**/*.json. Its folder released/ contains the same files as last released.

Options:
  --root DIR           root of the workspace (default: the current folder)
  --baseline PLACE     compare with a folder or a tarball (npm pack) instead of released/; repeatable
  --today DAY          day of the release, YYYY-MM-DD, for the dates in versions.json (default: the current day, in UTC)
  --format FORMAT      text or json (default: text)
`,
};

export function helpOf(command: string | null): string {
  return (command === null ? undefined : commands[command]) ?? overview;
}
