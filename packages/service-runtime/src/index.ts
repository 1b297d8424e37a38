export {
  appConfig,
  appVariables,
  auditRetentionDaysVariable,
  gidNamespaceVariable,
  inSchema,
  storeConnections,
} from './app-config.ts';
export { createAlarms, type RaiseAlarm, type ServerAlarm } from './alarms.ts';
export { type ClientServerConfig, clientServerConfig } from './service.ts';
export { readConfig } from './config.ts';
export { checkPortalOrigin, portalOriginVariable, wholeNumberVariable } from './config-variables.ts';
export { databaseLog } from './database-log.ts';
export { checkDatabaseTls, databaseTlsConfig, databaseTlsProblem } from './database-tls.ts';
export { egressAddressesVariable, noAddresses, trustedProxiesVariable } from './address-ranges.ts';
// The types of configurations name it.
export type { AddressRanges } from '@deedwire/auth';
export { headerValues } from './http/header-values.ts';
export { type HttpLimits, httpLimits } from './http/http-limits.ts';
export type { HttpResponse } from './http/http-response.ts';
export type { RequestContext } from './http/http-server.ts';
export { refusalStatuses, renderRefusal, type RenderRefusal } from './http/refusal.ts';
export { requestPath } from './http/request-path.ts';
export { createLineThrottle } from './line-throttle.ts';
export { doLater, doWaitingWork } from './late-work.ts';
export { createLogger, logAt, withChosenFields } from './logger.ts';
export type { Logger, LogLevel } from './logger.ts';
export { createRegistration, type Registration } from './registration.ts';
export { runMain } from './run-main.ts';
export { buildOf, type RunningApp, type StartAppOptions } from './running-app.ts';
export { runtimeConfig } from './runtime-config.ts';
export { type MailSender, mailSenderVariable, type SmtpServer, smtpUrlVariable } from './smtp-variables.ts';
export { startService } from './service.ts';
export type { ClientServer, HandlerContext, RunningServer, RunningService, ServiceOptions } from './service.ts';
export { loadTracing, type Tracing } from './tracing.ts';
