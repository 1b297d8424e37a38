import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { parse, type Shell, UsageError } from './shell.ts';

export async function secret(args: readonly string[], shell: Shell): Promise<number> {
  const { positionals } = parse(args, []);
  if (positionals.length > 0) throw new UsageError('secret takes no argument.');
  shell.out(`${generateWebhookSecret()}\n`);
  return 0;
}
