/**
 * Runs commands of the operator CLI of a checkout: `operator-process.ts <URL of the folder> <URL of the database>`. Each message is a
 * list of commands, which run at the same time. The response lists what they print with `--json`.
 */
import { existsSync } from 'node:fs';
import { serveParent } from '../child.ts';

const [, , folder = '', databaseUrl = ''] = process.argv;

type CallOperator = (
  env: Readonly<Record<string, string>>,
  ...commandArguments: string[]
) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

// Where the function stands, and where it stood in older checkouts.
const files = ['firm/system.ts', 'firm-system.ts', 'call-operator.ts'].map(
  (file) => new URL(`tools/dev-environment/src/${file}`, folder),
);
const { callOperator }: { callOperator: CallOperator } = await import(String(files.find((file) => existsSync(file))));

serveParent<readonly (readonly string[])[]>('ready', (commands) =>
  Promise.all(
    commands.map(async (command): Promise<unknown> => {
      // Where earlier checkouts create the tables, with roles that databases share.
      const env = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: 'public' };
      const { exitCode, stdout, stderr } = await callOperator(env, ...command, '--json');
      if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
      return JSON.parse(stdout);
    }),
  ),
);
