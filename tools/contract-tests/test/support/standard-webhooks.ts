import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SharedSystem } from '@deedwire/dev-environment/harness';
import { findProgram, missing, startReceiver } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { createClientAccounts } from './client-accounts.ts';
import { succeed } from './command.ts';
import { subscribe } from './subscribe.ts';
import { PlaceDocument } from './webhook-operations.ts';

/** A program that verifies one request with the library of Standard Webhooks for its language. */
export interface LibraryProgram {
  readonly name: string;
  /** The programs that must be installed. */
  readonly tools: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** A command of the shell that installs the library. */
  readonly install: string;
  /** It gets the secret, the id, the timestamp and the signature as arguments, and the body on standard input. */
  readonly run: readonly [program: string, ...parameters: string[]];
}

export const python: LibraryProgram = {
  name: 'Python',
  tools: ['python3'],
  files: {
    'main.py': `import sys
from standardwebhooks import Webhook, WebhookVerificationError

secret, *values = sys.argv[1:]
headers = dict(zip(["webhook-id", "webhook-timestamp", "webhook-signature"], values))
try:
    Webhook(secret).verify(sys.stdin.buffer.read(), headers)
    print("accepted")
except WebhookVerificationError:
    print("rejected")
`,
  },
  install: 'python3 -m venv environment && environment/bin/pip install --quiet standardwebhooks==1.0.1',
  run: ['environment/bin/python', 'main.py'],
};

export const go: LibraryProgram = {
  name: 'Go',
  tools: ['go'],
  files: {
    'go.mod': `module example.com/verify

go 1.21.0

require github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
`,
    'main.go': `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Args[1])
	if err != nil {
		panic(err)
	}
	headers := http.Header{}
	for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		headers.Set(name, os.Args[i+2])
	}
	body, _ := io.ReadAll(os.Stdin)
	if webhook.Verify(body, headers) == nil {
		fmt.Println("accepted")
	} else {
		fmt.Println("rejected")
	}
}
`,
  },
  install: 'go mod tidy && go build -o main .',
  run: ['./main'],
};

/** Whether to skip a test that needs tools. Under CI it fails without them. */
export function lacks(tools: readonly string[]): boolean {
  const absent = tools.filter((tool) => findProgram(tool) === undefined);
  if (absent.length === 0 || process.env['CI'] === 'true') return false;
  process.stdout.write(`contract-tests: no ${absent.join(' and no ')} on the PATH, a test is skipped\n`);
  return true;
}

/** A request that the sender of a running system has signed. */
interface Delivery {
  readonly secret: string;
  /** `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

async function receiveDelivery(system: Pick<SharedSystem, 'operator' | 'urls'>): Promise<Delivery> {
  const [{ client } = missing()] = await createClientAccounts('customer', system, 1);
  const receiver = await startReceiver();
  try {
    const { secret } = await subscribe(client, {
      callbackUrl: receiver.url,
      eventTypes: [{ type: 'order.placed' }],
    });
    await client.request(PlaceDocument, { input: { item: 'Zoë Ærø' } });
    const [{ headers, body } = missing()] = await receiver.waitFor(1);
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    return { secret, headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])), body };
  } finally {
    await receiver.close();
  }
}

/** What a library prints of a delivery of the sender, and of altered ones. */
export async function verdictsOf(
  program: LibraryProgram,
  system: Pick<SharedSystem, 'operator' | 'urls'>,
): Promise<string[]> {
  return verdicts(program, alterations(await receiveDelivery(system), generateWebhookSecret()));
}

/** Installs a library and runs its program with each delivery. Resolves with what it prints. */
async function verdicts(
  { files, install, run: [program, ...parameters] }: LibraryProgram,
  deliveries: readonly Delivery[],
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'standard-webhooks-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    await succeed('sh', ['-c', install], { cwd: folder });
    const printed: string[] = [];
    for (const { secret, headers, body } of deliveries) {
      const child = spawn(program, [...parameters, secret, ...Object.values(headers)], { cwd: folder });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.stdin.end(body);
      await once(child, 'close');
      printed.push(output.trim());
    }
    return printed;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A delivery, and what a library must reject: another body, another id, another secret. */
function alterations(delivery: Delivery, otherSecret: string): readonly Delivery[] {
  const { headers, body } = delivery;
  return [
    delivery,
    { ...delivery, body: Buffer.from(body.toString().replace('order.placed', 'order.updated')) },
    { ...delivery, headers: { ...headers, 'webhook-id': `${headers['webhook-id']}1` } },
    { ...delivery, secret: otherSecret },
  ];
}

export const expectedVerdicts = ['accepted', 'rejected', 'rejected', 'rejected'];
