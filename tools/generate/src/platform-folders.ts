/** The folders of the platform's packages that generators read or write, relative to the workspace. */

/** The common half of every contract, and the payloads of the platform's own events. */
export const commonFolder = 'packages/webhook-contract';
/** The definitions of the platform's own events, with their renderers. */
export const coreFolder = 'packages/core';
export const ownEventsFolder = `${coreFolder}/src/own-events`;
export const checkFolder = 'packages/contract-check';
export const portalFolder = 'packages/portal';
export const receiverFolder = 'packages/webhook-receiver';
export const serviceFolder = 'packages/service';
export const signingFolder = 'packages/webhook-signing';
export const docsFolder = 'docs';
/** The apps that every service has. */
export const commonApps = ['apps/webhook-worker', 'apps/operator-cli'];
