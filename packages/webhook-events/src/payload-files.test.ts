import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { generatedFiles } from '../generate.ts';
import { webhookEventTypes } from './event-types.ts';
import { parseWebhookBody } from './parse-webhook-body.ts';
import { strict } from './strict.ts';

const root = join(import.meta.dirname, '..');
const payloads = webhookEventTypes.flatMap(({ type, versions }) => versions.map((version) => ({ type, ...version })));

/** What each folder of fixtures holds: the answers of the JSON Schema, of the receiver's parser, of the producer's own check. */
const verdicts = {
  accept: { jsonSchema: true, receiver: 'event', producer: true },
  reject: { jsonSchema: false, receiver: 'malformed', producer: false },
  // Not this payload, and for a receiver none that it knows.
  'other-event': { jsonSchema: false, receiver: 'unknown_event', producer: false },
  // Payloads grow: receivers must not mind, and we must not send by accident what is not published.
  'unknown-field': { jsonSchema: true, receiver: 'event', producer: false },
  // `format` alone cannot demand UTC and milliseconds, and a pattern beside it would tie the contract to zod.
  'loose-time': { jsonSchema: true, receiver: 'malformed', producer: false },
} as const;

function filesBelow(directory: string): string[] {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

function readJson(file: string) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

interface DescribedSchema {
  description?: string;
  properties?: Record<string, DescribedSchema>;
}

/** Undefined for a part without a description. */
function descriptions(schema: DescribedSchema): (string | undefined)[] {
  return [schema.description, ...Object.values(schema.properties ?? {}).flatMap(descriptions)];
}

test('the generated files are current', async () => {
  const expected = await generatedFiles();
  expect(['versions.json', ...filesBelow('json-schema'), ...filesBelow('src/generated')].toSorted()).toEqual(
    [...expected.keys()].toSorted(),
  );
  for (const [path, text] of expected) {
    expect({ path, text: readFileSync(join(root, path), 'utf8') }).toEqual({ path, text });
  }
});

test('there are payload files and fixtures for the registered versions only', () => {
  const registered = payloads.map(({ type, version }) => `${type}/${version}`);
  const dated = filesBelow('src').filter((file) => /^src\/[^/]+\.[^/]+\/[\d-]+\.ts$/.test(file));
  expect(dated.map((file) => file.slice('src/'.length, -'.ts'.length)).toSorted()).toEqual(registered);
  expect([...new Set(filesBelow('fixtures').map((file) => file.split('/').slice(1, 3).join('/')))].toSorted()).toEqual(
    registered,
  );
});

describe.each(payloads)('$type at $version', ({ type, version, body: open, data }) => {
  test('its file imports nothing that can change under it', () => {
    const source = readFileSync(join(root, 'src', type, `${version}.ts`), 'utf8');
    expect(source.match(/^.*\b(?:import|from|require)\b\s*[({'"].*$/gm)).toEqual(["import { z } from 'zod';"]);
  });

  const ajv = new Ajv2020({ allErrors: true, formats: fullFormats });
  const jsonSchema = readJson(join('json-schema', type, `${version}.json`));
  const validate = ajv.compile(jsonSchema);

  const producer = strict(open);

  test.each(Object.entries(verdicts))('its %s fixtures', (folder, verdict) => {
    const directory = join('fixtures', type, version, folder);
    const files = filesBelow(directory);
    expect(files).not.toEqual([]);
    for (const file of files) {
      const text = readFileSync(join(root, file), 'utf8');
      const body: unknown = JSON.parse(text);
      const answers = {
        jsonSchema: validate(body),
        receiver: parseWebhookBody(text).kind,
        producer: producer.safeParse(body).success,
      };
      expect({ file, ...answers }).toEqual({ file, ...verdict });
    }
  });

  test('there are no other fixtures', () => {
    expect(readdirSync(join(root, 'fixtures', type, version)).toSorted()).toEqual(Object.keys(verdicts).toSorted());
  });

  test('the registry holds the strict check of `data`', () => {
    const directory = join('fixtures', type, version);
    expect(data.safeParse(readJson(join(directory, 'accept/typical.json')).data).success).toBe(true);
    expect(data.safeParse(readJson(join(directory, 'unknown-field/in-data.json')).data).success).toBe(false);
  });

  test('every field says what it is', () => {
    const texts = descriptions(jsonSchema);
    expect(texts.length).toBeGreaterThan(6);
    for (const text of texts) expect(text).toMatch(/\.$/);
  });
});
