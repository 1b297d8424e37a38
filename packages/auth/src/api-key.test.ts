import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { apiKeyPattern, exampleApiKey, generateApiKey, parseApiKey } from './api-key.ts';

describe('API keys', () => {
  test('a generated key parses, and is stored as the SHA-256 of the whole key', () => {
    for (const interfaceName of ['lender', 'partner'] as const) {
      const { apiKey, keyId, keyHash } = generateApiKey(interfaceName);
      expect(apiKey).toMatch(apiKeyPattern);
      expect(parseApiKey(apiKey)).toEqual({ interfaceName, keyId });
      expect(keyHash).toEqual(createHash('sha256').update(apiKey).digest());
    }
  });

  test('no two keys are alike', () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey('lender'));
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(200);
    expect(new Set(keys.map(({ apiKey }) => apiKey.split('_')[3])).size).toBe(200);
  });

  test('the published example', () => {
    expect(exampleApiKey).toBe('dw_lender_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_2yWAfE');
    expect(parseApiKey(exampleApiKey)).toEqual({ interfaceName: 'lender', keyId: 'ExampleKeyId' });
  });

  test.each([
    ['nothing', ''],
    ['another interface with the old checksum', exampleApiKey.replace('lender', 'partner')],
    ['an unknown interface', exampleApiKey.replace('lender', 'operator')],
    ['another key id', exampleApiKey.replace('ExampleKeyId', 'exampleKeyId')],
    ['another secret', exampleApiKey.replace('NotA', 'NotB')],
    ['another checksum', `${exampleApiKey.slice(0, -1)}F`],
    ['a character too many', `${exampleApiKey}0`],
    ['a line break after it', `${exampleApiKey}\n`],
    ['a space before it', ` ${exampleApiKey}`],
    ['upper case', exampleApiKey.toUpperCase()],
  ])('%s is not a key', (_, value) => {
    expect(parseApiKey(value)).toBeNull();
  });
});
