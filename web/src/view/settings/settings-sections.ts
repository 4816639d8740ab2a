import type { TestedService } from '../../data/settings.ts'
import type { IconName } from '../../design/icon.ts'

/** A card of the settings page: a group of the service's settings, and what goes with them. */
export type SettingsSection = {
  readonly id: string
  readonly group: string
  readonly icon: IconName
  readonly heading: string
  readonly about: string
  /** Can be tried out. */
  readonly service?: TestedService
  readonly more?: { readonly path: string; readonly label: string }
}

/** In the order of the page. */
export const settingsSections: readonly SettingsSection[] = [
  {
    id: 'model',
    group: 'model',
    icon: 'spark',
    heading: 'Model service',
    about: 'Who thinks: OpenAI, or any service that speaks its API. Without one the builtin model answers.',
    service: 'model',
  },
  {
    id: 'telephony',
    group: 'telephony',
    icon: 'phone',
    heading: 'Telephony',
    about: 'Phone calls and text messages. They also need the Public URL, further down.',
    service: 'telephony',
  },
  {
    id: 'owner',
    group: 'owner',
    icon: 'user',
    heading: 'You',
    about: 'When it is for you, and which phone numbers are yours.',
  },
  {
    id: 'conversation',
    group: 'conversation',
    icon: 'chat',
    heading: 'Conversation',
    about: 'How much of it is kept at hand, and when it is condensed.',
    more: { path: '/memory-config', label: 'How memories are recalled' },
  },
  {
    id: 'delivery',
    group: 'delivery',
    icon: 'tool',
    heading: 'Tasks and delivery',
    about: 'Work that is handed to the coding assistant, and how its outcome reaches you.',
  },
  {
    id: 'service',
    group: 'service',
    icon: 'globe',
    heading: 'Network',
    about: 'How this service is reached. Its port, address and data directory are given when it is started.',
  },
]
