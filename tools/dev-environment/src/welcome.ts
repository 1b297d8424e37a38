import { alignColumns } from './align-columns.ts';
import { curlCommand } from './curl-command.ts';
import type { DevFile } from './dev-file.ts';
import { packageManagerCommand } from './workspace.ts';

export interface Welcome {
  devFile: DevFile;
  partnerId: string;
  lenderId: string;
  webhookSecret: string;
  /** Paths to show, relative to the working directory where that is shorter. */
  files: { json: string; variables: string };
  /** The URL of the sample receiver. Null without `--receiver`. */
  receiverUrl: string | null;
}

/** Where the quickstart's receivers listen. */
const quickstartUrl = 'http://127.0.0.1:4005/webhooks';

/** The text that `pnpm dev` prints once everything is running: addresses, and commands to copy and paste. */
export function welcome({ devFile, partnerId, lenderId, webhookSecret, files, receiverUrl }: Welcome): string {
  const { lender, partner, admin, referrals } = devFile;
  const [referral = ''] = referrals;
  const operator = `${packageManagerCommand} operator`;
  const addresses: [string, string][] = [
    ['lender interface', `${lender.url} (GraphiQL in a browser)`],
    ['partner interface', `${partner.url} (GraphiQL in a browser)`],
    ...Object.entries(admin).map(([app, url]): [string, string] => [`${app} health`, `${url}/ready`]),
    ...(receiverUrl === null ? [] : [['sample receiver', receiverUrl] as [string, string]]),
    ['credentials', files.json],
    ['shell variables', files.variables],
  ];
  const sections = [
    [
      'Deedwire is running. Press Ctrl-C to stop it.',
      alignColumns(addresses)
        .map((line) => `  ${line}`)
        .join('\n'),
    ],
    ['Read a lender:', curlCommand(lender, '{ lender { name members { id firstName lastName email } } }')],
    [
      'Read a referral as its partner:',
      curlCommand(partner, `{ referral(id: "${referral}") { id status clientName createdAt } }`),
    ],
    [
      'List the event types that a partner can subscribe to:',
      curlCommand(partner, '{ webhookEventTypes { type description versions { version status } } }'),
    ],
    ...(receiverUrl === null
      ? [
          [
            `Subscribe a receiver that listens on ${quickstartUrl} (docs/quickstart.md has one in Node and one in Python):`,
            curlCommand(partner, createSubscription(webhookSecret)),
          ],
        ]
      : []),
    [
      receiverUrl === null
        ? 'Cause an event: create a referral, or convert one.'
        : 'Cause an event: create a referral, convert one, or add a team member. The sample receiver prints it below.',
      [
        `${operator} referral create --partner ${partnerId} --client-name 'Grace Hopper'`,
        `${operator} referral convert ${referral}`,
        ...(receiverUrl === null
          ? []
          : [
              `${operator} member add --lender ${lenderId} --first-name Grace --last-name Hopper --email grace@example.com`,
            ]),
      ].join('\n'),
    ],
    ['What to do next:', '  docs/quickstart.md: receive and verify webhooks in your code'],
  ];
  return sections.map(([title, text]) => `${title}\n\n${text}\n`).join('\n');
}

function createSubscription(webhookSecret: string): string {
  const pins = ['referral.created', 'referral.converted'].map((type) => `{ type: "${type}", version: "2026-11-01" }`);
  const input = `{ callbackUrl: "${quickstartUrl}", eventTypes: [${pins.join(', ')}], webhookSecret: "${webhookSecret}" }`;
  return `mutation { createWebhookSubscription(input: ${input}) { webhookSubscription { id status } userErrors { message } } }`;
}
