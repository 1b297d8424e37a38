/**
 * Ends a script with one message if the dependencies, which include its Node, are not installed: pnpm starts scripts after an
 * installation that failed. In plain JavaScript, because an older Node then runs it.
 */
import { existsSync, readFileSync } from 'node:fs';

// pnpm writes this file once everything is installed.
if (!existsSync(new URL('../node_modules/.modules.yaml', import.meta.url))) {
  const { packageManager } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const [pnpm] = packageManager.split('+');
  process.stderr.write(
    `\nThe dependencies are not installed. Fix the error of pnpm above, or run \`npx -y ${pnpm} install\`.\n`,
  );
  process.exit(1);
}
