/** What a newcomer does with a block of the README. */
export interface Row {
  framework: string;
  /** To install beside the kit, with a version or without. */
  packages: string[];
  block: string;
  /** Where the block is pasted. */
  file: string;
  start: string;
  /** What else the newcomer writes, by the name of the file. */
  otherFiles?: Record<string, string>;
  /** The receiver gets referral.converted instead of referral.created. */
  isInbox?: boolean;
  /** Counts the effects in the database of the newcomer. `$1` is the id of the referral or the matter. Otherwise, printed lines count. */
  effects?: string;
  /** A command that the newcomer runs after the delivery, while the receiver runs. */
  afterwards?: string;
  /** After that command, the sender repeats the delivery. */
  isRepeated?: boolean;
}

/** A program with a store of the README. */
export function storeServer(parts: {
  imports: string[];
  /** Statements. Unless it is imported, they declare `store`. */
  open: string;
  /** The handler of referral.created. */
  handler: string;
}): string {
  return `
import { createServer } from 'node:http';
import { createWebhookReceiver } from '@deedwire/webhook-receiver';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
${parts.imports.join('\n')}

${parts.open}
const receiver = createWebhookReceiver({
  secrets: [process.env['WEBHOOK_SECRET'] ?? ''],
  store,
  on: { 'referral.created': { '2026-11-01': async ${parts.handler} } },
});
createServer(nodeHandler(receiver)).listen(Number(process.env['PORT']));
`;
}
