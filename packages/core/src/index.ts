export { alertTypes } from './alert-types.ts';
export {
  type Ability,
  abilities,
  areUsual,
  findAbilitiesFault,
  type PortalAbility,
  portalAbilities,
  usualAbilities,
} from './abilities.ts';
export { isAccountName } from './account-name.ts';
export { defineService, ServiceError } from './define-service.ts';
export { isInterfaceName, isServiceName } from './name-forms.ts';
export {
  deprecationDocumentationAt,
  deprecationHeaders,
  readDeprecation,
  type Deprecation,
  type DeprecationDocumentation,
} from './deprecation.ts';
export { changedPaths } from './changed-paths.ts';
export { type CommandNames, commandNames, nameCommands, operatorCommand } from './command-names.ts';
export {
  defineEvent,
  type Event,
  type EventContract,
  type EventDefinition,
  type EventOptions,
  type EventRecord,
  type EventVersion,
  type PublicationOptions,
  type PublishedEvent,
  type PublishedVersion,
  type RenderData,
  type RenderedEvent,
  renderersFor,
  requiredPaths,
  type SnapshotOf,
  snapshotSchema,
  type SnapshotSchema,
  withRenderers,
} from './event.ts';
export { type EventRecordId, hasKeys, isRecordGid, readEventRecord, recordOfSnapshot } from './event-record.ts';
export {
  formatAccountGid,
  formatGid,
  gid,
  type GidContext,
  gidNamespacePattern,
  parseAccountGid,
  parseGid,
  parseRecordGid,
  type GidTypeName,
} from './gid.ts';
export {
  accountTypesOf,
  appOf,
  eventOf,
  type InterfaceApp,
  type InterfaceName,
  interfaceNamesOf,
  interfaceOf,
  type InterfaceRole,
  ofService,
  portalClientPattern,
  roleOf,
  type SnakeCase,
  variableOf,
} from './interfaces.ts';
export { apiKeyHeader, deliveryHeaders, requestHeaders } from './header-names.ts';
export { type MailAction, mailActions, mailPath } from './mail-path.ts';
export { operationCostPoints } from './operation-cost.ts';
export { isOwnEventType } from './own-event-types.ts';
export { payloadMaxBytes } from './payload-max-bytes.ts';
export { idAt, nearestIdAt, timeOf } from './record-id-time.ts';
export { addressKey } from './personal-data.ts';
export { parseRecordId, toRecordId, type AccountId, type RecordId, type RecordTypeName } from './record-id.ts';
export { readRecordKey } from './record-key.ts';
export {
  describeRequestHeaderNames,
  describeRequestHeaderValue,
  isRequestHeaderName,
  isRequestHeaderValue,
  originOf,
  type RequestHeader,
  type RequestHeaderState,
} from './request-header.ts';
export { requestHeaderAssociatedData, secretAssociatedData } from './secret-associated-data.ts';
export type {
  ActionKind,
  Interface,
  InterfaceVersion,
  Names,
  OwnVersion,
  Persons,
  PersonTable,
  Service,
  ServiceOf,
  InterfaceOptions,
  ServiceOptions,
} from './service.ts';
export { describeSubscriptionName, isSubscriptionName } from './subscription-name.ts';
export { timeoutDefaultSeconds, timeoutMaxSeconds } from './subscription-timeout.ts';
export { invisibleCharacters, terminalText } from './terminal-text.ts';
export { describeLength, isEmail, isText, isTextOrBlank } from './text.ts';
export { withArticles } from './type-names.ts';
export { isRetired, type VersionLifecycle } from './version-lifecycle.ts';
export { withChanged } from './with-changed.ts';
