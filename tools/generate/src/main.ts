import { parseArgs } from 'node:util';
import { type Generated, outOfDate, writeGenerated } from './generated.ts';

// Imported one after the other, because a generator reads files that earlier generators have written.
const generators: Record<string, () => Promise<Generated>> = {
  'composed-contracts': async () => (await import('./composed/composed-contracts.ts')).composedContracts(),
  'composed-payloads': async () => (await import('./payloads/composed-payloads.ts')).composedPayloads(),
  'schema-packages': async () => await (await import('./schema-packages/schema-packages.ts')).schemaPackages(),
  'contract-check': async () => await (await import('./contract-check.ts')).contractCheck(),
  payloads: async () => await (await import('./payloads/payloads.ts')).payloads(),
  'served-versions': async () => (await import('./served-versions.ts')).servedVersions(),
  'typical-bodies': async () => (await import('./typical-bodies.ts')).typicalBodies(),
  operations: async () => await (await import('./operations.ts')).operations(),
  'portal-documents': async () => await (await import('./portal-documents.ts')).portalDocuments(),
  'api-reports': async () => await (await import('./api-reports/api-reports.ts')).apiReports(),
  reference: async () => (await import('./reference/reference-pages.ts')).reference(),
  deployment: async () => (await import('./deployment.ts')).deployment(),
  'type-references': async () => (await import('./type-references.ts')).typeReferences(),
};

// 141 if the reader of the messages, for example `head`, has gone. This is the exit code of SIGPIPE, which Node ignores.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1));

/**
 * `pnpm generate [--check] [generator…]`: runs these generators, or all of them. With `--check`, it writes nothing, and lists the files that
 * are out of date, up to the first generator that has some, because the others may read them.
 */
try {
  const options = { check: { type: 'boolean', default: false } } as const;
  const { values, positionals: chosen } = parseArgs({ options, allowPositionals: true });
  const unknown = chosen.filter((name) => generators[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`No generator is called ${unknown.join(' or ')}. Use ${Object.keys(generators).join(', ')}.`);
  for (const [name, generator] of Object.entries(generators)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const generated = await generator();
    if (!values.check) writeGenerated(generated);
    const paths = values.check ? outOfDate(generated).toSorted() : [];
    if (paths.length === 0) continue;
    process.stdout.write(paths.map((path) => `out of date: ${path}\n`).join(''));
    process.exitCode = 1;
    break;
  }
} catch (error) {
  // A contract or an example is wrong, not the generator: the message says what to change, and a stack trace would hide it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
