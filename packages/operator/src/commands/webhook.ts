import { readSentBody } from '@deedwire/actions';
import { operatorCommand, type Service } from '@deedwire/core';
import {
  type ContractOrder,
  type Diagnosis,
  diagnoseWebhook,
  type Finding,
  readCapturedRequest,
} from '@deedwire/webhook-diagnosis';
import type { Command } from 'commander';
import { readOperatorConfig } from '../config.ts';
import { gidOption } from '../gid.ts';
import { readInput, readSecretInput } from '../read-input.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { parsePastTime } from '../time-options.ts';
import { addVerb, notes, print, type OutputOptions } from '../verb.ts';

interface VerifyOptions extends OutputOptions {
  body?: string;
  secretFile?: string;
  at?: Date;
  delivery?: string;
}

// Bodies have at most 256 kB. JSON, base64 and UTF-16 can make more of them.
const captureMaxBytes = 4_000_000;
const secretsMaxBytes = 20_000;
const secretsMax = 10;

export function addWebhookCommands(program: Command, shell: Shell): void {
  const noun = program.command('webhook').description('look at requests that receivers have captured');

  addVerb(
    noun,
    'verify [file]',
    'say why a receiver rejects the signature of a request; without a file, reads standard input',
  )
    .option('--body <file>', 'the bytes of the body, if the capture has the headers only')
    .option(
      '--secret-file <file>',
      'a file with the secrets, one in a line; - is standard input; defaults to WEBHOOK_SECRET',
    )
    .option(
      '--at <time>',
      'when the request arrived, for example 2027-01-31T12:00:05Z or 1h (ago); defaults to now',
      parsePastTime,
    )
    .addOption(
      gidOption(
        shell,
        'delivery',
        'compare the body with the stored payload of this delivery; needs the database',
        'WebhookDelivery',
      ),
    )
    .addHelpText(
      'after',
      notes(`
Needs no database without --delivery. The secret is never an argument, because other processes can read those, and is never printed. Several secrets
are those of a receiver during a rotation.

The request has one of these forms:
  HTTP text    the request line (optional), the headers, an empty line, and the
               bytes of the body
  curl -v      the same with "> " before each header; other lines of curl do
               not count
  JSON         {"headers": {…}, "body": "…"}, or "bodyBase64" with the base64 of
               the bytes. Headers can also be a list of names and values.
               Events of AWS Lambda have this form.

The result names each rule that the request breaks and what to do: the clock, the timestamp, headers, the secret and its encoding,
the key, and what has changed the body. The exit code is 1 if the request is rejected.

  WEBHOOK_SECRET_FILE=secret.txt ${operatorCommand()} webhook verify request.http \\
    --at 2027-01-31T12:00:05Z
  ${operatorCommand()} webhook verify headers.txt --body body.json \\
    --secret-file secrets.txt`),
    )
    .action(async (file: string | undefined, options: VerifyOptions, command: Command) => {
      const path = file ?? '-';
      if ([path, options.body, options.secretFile].filter((each) => each === '-').length > 1)
        command.error('error: only one of the request, its body and its secrets can come from standard input');
      const secrets = await readSecrets(shell, options.secretFile);
      const capture = await readInput(shell, path, captureMaxBytes);
      const body = options.body === undefined ? null : await readInput(shell, options.body, captureMaxBytes);
      const { request, problem } = readCapturedRequest(capture, body);
      if (request === null) throw new Error(`The request cannot be read. ${problem}`);
      const sentBody = options.delivery === undefined ? null : await readBodyOf(shell, options.delivery);
      const receivedAt = options.at ?? new Date();
      const order = orderOf(shell.service);
      const prefix = shell.service.names.headerPrefix;
      const diagnosis = await diagnoseWebhook({ request, secrets, receivedAt, sentBody, order, prefix });
      print(shell, options, diagnosis, (result) => describe(result, secrets.length));
      if (!diagnosis.isAccepted) throw new Error(`A receiver rejects the request: ${diagnosis.rejection}.`);
    });
}

function orderOf({ events }: Service): ContractOrder {
  return (type, version, value) => {
    const contract = events.find((event) => event.type === type)?.versions.find((each) => each.version === version);
    const { id, timestamp, data } = Object(value);
    const parsed = contract?.data.safeParse(data);
    return parsed?.success === true ? JSON.stringify({ id, type, version, timestamp, data: parsed.data }) : null;
  };
}

async function readBodyOf(shell: Shell, deliveryId: string): Promise<Uint8Array<ArrayBuffer>> {
  return new TextEncoder().encode(await withContext(shell, (context) => readSentBody(context, { deliveryId })));
}

/** White space counts: it can be the cause. Only the line breaks between the secrets of a file do not. */
async function readSecrets(shell: Shell, path: string | undefined): Promise<string[]> {
  const text =
    path === undefined
      ? readOperatorConfig(shell).WEBHOOK_SECRET
      : (await readSecretInput(shell, '--secret-file', path, secretsMaxBytes)).toString('utf8');
  const secrets = (text ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
  if (secrets.length === 0) {
    throw new Error('There is no secret. Set WEBHOOK_SECRET or WEBHOOK_SECRET_FILE, or pass --secret-file <file>.');
  }
  if (secrets.length > secretsMax)
    throw new Error(`There are ${secrets.length} secrets; at most ${secretsMax} are allowed.`);
  return secrets;
}

function describe({ isAccepted, rejection, matchingSecrets, findings }: Diagnosis, secrets: number): string {
  const which = secrets === 1 ? 'the secret' : `secret ${matchingSecrets.join(' and ')} of ${secrets}`;
  const summary = isAccepted
    ? `Accepted: the request was signed with ${which}.`
    : matchingSecrets.length > 0
      ? `Rejected with ${rejection}. The signature was made with ${which}; what follows is wrong.`
      : `Rejected with ${rejection}.`;
  return [summary, ...findings.map(describeFinding)].join('\n\n');
}

function describeFinding({ code, isProven, problem, remedy }: Finding): string {
  return `${code}${isProven ? '' : ' (probably)'}\n  ${problem}\n  ${remedy}`;
}
