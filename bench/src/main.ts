/** The program behind `pnpm bench`. `scripts/bench.ts` installs the peers and starts it. */
import { append } from './append/append.ts';
import { type Bench, BenchProblem } from './bench.ts';
import { helpText, parseCommand } from './command-line.ts';
import { currentCommit } from './commit.ts';
import { comparisonBench } from './comparisons/comparison.ts';
import { sender } from './comparisons/sender.ts';
import { signing } from './comparisons/signing.ts';
import { delivery } from './delivery/delivery.ts';
import { graphql } from './graphql/graphql.ts';
import { saveResult, storedParts, writePage } from './page/write-page.ts';
import { portal } from './portal/portal.ts';
import { pressure } from './pressure/pressure.ts';
import { replay } from './replay/replay.ts';
import { services } from './services/services.ts';
import { versions } from './versions/versions.ts';

/** A new bench is a file in `comparisons/` or a folder, and an entry here. */
const benches: readonly Bench[] = [
  delivery,
  replay,
  graphql,
  comparisonBench(sender),
  comparisonBench(signing),
  append,
  portal,
  pressure,
  services,
  versions,
];

// 141 if the reader of the report, for example `head`, has ended. This is the exit code of SIGPIPE, which Node ignores.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 141 : 1));

const command = parseCommand(process.argv.slice(2), benches);
if (command.kind === 'help') process.stdout.write(helpText(benches));
else if (command.kind === 'page') await writePage();
else if (command.kind === 'invalid') {
  process.stderr.write(`${command.problem}\n\n${helpText(benches)}`);
  process.exitCode = 2;
} else {
  const { bench, json, save, resume, options } = command;
  const savesParts = save && bench.savesParts === true;
  try {
    const result = await bench.run({
      ...options,
      done: resume ? storedParts(bench.name, currentCommit()) : [],
      ...(savesParts && { onPart: (report) => saveResult(bench.name, report, true) }),
      progress: (line) => process.stderr.write(`${line}\n`),
    });
    if (save) {
      if (!savesParts) saveResult(bench.name, result.json, false);
      await writePage();
    }
    process.stdout.write(`${json ? JSON.stringify(result.json, null, 2) : result.markdown}\n`);
  } catch (error) {
    if (!(error instanceof BenchProblem)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
