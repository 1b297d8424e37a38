/**
 * Runs commands of the operator CLI of a checkout: `operator-process.ts <URL of the folder> <URL of the database>`. Each message is a
 * list of commands, which run at the same time. The response lists what they print with `--json`.
 */
import { serveParent } from '../child.ts';

const [, , folder = '', databaseUrl = ''] = process.argv;

type CallOperator = (
  env: Readonly<Record<string, string>>,
  ...commandArguments: string[]
) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

const { callOperator }: { callOperator: CallOperator } = await import(
  new URL('tools/dev-environment/src/call-operator.ts', folder).href
);

serveParent<readonly (readonly string[])[]>('ready', (commands) =>
  Promise.all(
    commands.map(async (command): Promise<unknown> => {
      const { exitCode, stdout, stderr } = await callOperator({ DATABASE_URL: databaseUrl }, ...command, '--json');
      if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
      return JSON.parse(stdout);
    }),
  ),
);
