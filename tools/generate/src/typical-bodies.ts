import { typicalBodyPath } from './event-versions.ts';
import { banner, type Generated, literalOf } from './generated.ts';
import { commonFolder, receiverFolder } from './platform-folders.ts';
import { readText } from './workspace-files.ts';

/** What `webhook-receiver` has of typical bodies: that of a test event, which every service has. */
export function typicalBodies(): Generated {
  const { type, version, data } = JSON.parse(readText(typicalBodyPath(commonFolder, 'webhook.test', '2026-11-01')));
  const test = `${banner}\n/** What every service sends as a test event. */\nexport const testEvent = ${literalOf({ type, version, data })} as const;\n`;
  const folder = `${receiverFolder}/src/generated`;
  return { files: new Map([[`${folder}/test-event.ts`, test]]), folders: [folder] };
}
