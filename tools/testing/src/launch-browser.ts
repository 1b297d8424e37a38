import { type Browser, chromium } from 'playwright-core';
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
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('Chromium is not on the PATH.');
  return chromium.launch({ executablePath, args: flags });
}
