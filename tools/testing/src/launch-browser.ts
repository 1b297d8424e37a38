import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { findProgram } from './page-commands.ts';

/** Chromium on this machine. Undefined if there is none. */
export const findBrowser = (): string | undefined => findProgram('chromium', 'chromium-browser', 'google-chrome');

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

/**
 * Starts Chromium with a new profile. It connects to this machine only.
 *
 * @throws {Error} if it is not on the PATH
 */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch(options());
}

/**
 * As `launchBrowser`, with a profile in an empty folder.
 *
 * @param preferences those that a person changes in the settings, as Chromium stores them
 */
export async function launchProfile(folder: string, preferences: object): Promise<BrowserContext> {
  await mkdir(join(folder, 'Default'));
  await writeFile(join(folder, 'Default/Preferences'), JSON.stringify(preferences));
  return chromium.launchPersistentContext(folder, options());
}

function options() {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('Chromium is not on the PATH.');
  return { executablePath, args: flags };
}
