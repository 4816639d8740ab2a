import type { TestedService } from '../../../src/http/contract/settings.ts'
import type { IconName } from '../design/icon.ts'
import { msg } from '../design/msg.ts'

/** A card of the settings page, with one group of settings. */
export type SettingsSection = {
  /** The group of its settings. */
  readonly id: string
  readonly icon: IconName
  readonly heading: string
  readonly about: string
  /** Adds a connection test for this service. */
  readonly service?: TestedService
  readonly more?: { readonly path: string; readonly label: string }
}

/** In the order of the page. */
export const settingsSections: readonly SettingsSection[] = [
  {
    id: 'model',
    icon: 'spark',
    heading: msg`Model services`,
    about: msg`Where the models run that reply, learn and speak. Without a service, the builtin model replies.`,
  },
  {
    id: 'money',
    icon: 'money',
    heading: msg`Money`,
    about: msg`What Delegate may spend, and what its services cost. Prices are in US dollars.`,
    more: { path: '/operations', label: msg`What was spent` },
  },
  {
    id: 'telephony',
    icon: 'phone',
    heading: msg`Telephony`,
    about: msg`Phone calls and text messages. Also requires the Public URL below.`,
    service: 'telephony',
  },
  {
    id: 'rights',
    icon: 'lock',
    heading: msg`Rights`,
    about: msg`What Delegate may do for you by text and in calls. A number proves little, so it may do less there.`,
  },
  {
    id: 'owner',
    icon: 'user',
    heading: msg`You`,
    about: msg`Your time zone and phone numbers.`,
  },
  {
    id: 'conversation',
    icon: 'chat',
    heading: msg`Conversation`,
    about: msg`How much context is kept, and when it is compacted.`,
    more: { path: '/memory-config', label: msg`Recall settings` },
  },
  {
    id: 'notifications',
    icon: 'timer',
    heading: msg`Notifications`,
    about: msg`How Delegate reaches you while its page is not open.`,
  },
  {
    id: 'delivery',
    icon: 'tool',
    heading: msg`Tasks and delivery`,
    about: msg`Work for the coding assistant, and how you get its outcome.`,
  },
  {
    id: 'backups',
    icon: 'copy',
    heading: msg`Backups`,
    about: msg`A daily, encrypted backup in a directory of this machine. Without the passphrase, nobody can restore one.`,
    more: { path: '/data', label: msg`Your data: last backup, downloads, export and import` },
  },
  {
    id: 'service',
    icon: 'globe',
    heading: msg`Network`,
    about: msg`How to reach this service. Its port, address and data directory are set at startup.`,
    more: { path: '/security', label: msg`Security checks` },
  },
]
