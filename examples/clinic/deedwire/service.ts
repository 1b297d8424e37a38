import { defineEvent, defineService, z } from '@deedwire/service';

export const appointmentBooked = defineEvent('appointment.booked', {
  description: 'An appointment was booked.',
  interfaces: ['patient'],
  record: { type: 'Appointment', id: ({ appointment }) => appointment.id },
  snapshot: z.object({ appointment: z.object({ id: z.string(), startsAt: z.iso.datetime(), reason: z.string() }) }),
  sample: (namespace) => ({
    appointment: { id: `gid://${namespace}/Appointment/1`, startsAt: '2026-12-01T09:00:00.000Z', reason: 'Søvnløshet' },
  }),
  versions: {
    '2026-11-01': {
      status: 'current',
      data: z.object({ appointmentId: z.string(), startsAt: z.iso.datetime() }),
      render: ({ appointment: { id, startsAt } }) => ({ appointmentId: id, startsAt }),
    },
    '2027-02-01': {
      status: 'preview',
      data: z.object({ appointment: z.object({ id: z.string(), startsAt: z.iso.datetime(), reason: z.string() }) }),
      render: ({ appointment: { id, startsAt, reason } }) => ({ appointment: { id, startsAt, reason } }),
    },
  },
});

export const service = defineService({
  // They must not change after the first release: databases, clients and receivers keep them.
  names: {
    service: 'clinic',
    gidNamespace: 'clinic',
    apiKeyPrefix: 'clinic',
    headerPrefix: 'X-Clinic',
    userAgent: 'Clinic-Webhooks',
  },
  interfaces: {
    patient: {
      title: 'Patient',
      account: 'Patient',
      versions: { '2026-11-01': { serve: () => import('./patient/2026-11-01.ts') } },
    },
  },
  events: [appointmentBooked],
  tables: { appointment: {} },
  auditActions: { 'appointment.book': 'lost' },
  clientActions: ['appointment.book'],
  migrations: new URL('./migrations/', import.meta.url),
});
