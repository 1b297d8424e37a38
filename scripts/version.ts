/** `pnpm run version`: turns the pending changesets into versions, changelogs and release records. */
import { cutVersions, ReleaseError } from '../tools/release/src/index.ts';
import { endWithReader } from './end-with-reader.ts';

endWithReader();

try {
  const cut = await cutVersions();
  const lines = cut.map(({ name, from, to }) => `${name} ${from} → ${to}\n`);
  process.stdout.write(lines.length > 0 ? lines.join('') : 'There are no pending changesets.\n');
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
