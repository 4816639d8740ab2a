import * as z from 'zod'
import { english } from '../language/message.ts'
import { setting } from './setting.ts'
import {
  directorySchema,
  integerSchema,
  quietHoursSchema,
  textSchema,
  webhookUrlSchema,
} from './setting-schemas.ts'

const deliveryChannels = ['chat', 'sms', 'webhook'] as const

/** How the owner is notified, and how tasks run and report. */
export const deliverySettings = {
  QUIET_HOURS: setting(quietHoursSchema, {
    group: 'notifications',
    title: english`Quiet hours`,
    default: null,
    description: english`Hours like 22:00-07:00, in your time zone, in which no push notification comes, except for reminders.`,
  }),
  REMINDER_TEXT_MINUTES: setting(integerSchema(0, 1_440), {
    group: 'notifications',
    title: english`Text a reminder after`,
    unit: english`minutes`,
    default: 15,
    description: english`How long after a reminder that you have not seen Delegate texts it to your first phone number; 0 for never.`,
  }),
  DELIVERY_CHANNEL: setting(z.enum(deliveryChannels), {
    group: 'delivery',
    title: english`Deliver outcomes by`,
    choices: deliveryChannels,
    default: 'chat',
    description: english`How the outcome of a task reaches you, unless the task says otherwise.`,
  }),
  DELIVERY_WEBHOOK_URL: setting(webhookUrlSchema, {
    group: 'delivery',
    title: english`Webhook URL`,
    default: null,
    sensitive: true,
    description: english`URL that outcomes are posted to when they are delivered by webhook.`,
  }),
  DELIVERY_WEBHOOK_SECRET: setting(textSchema, {
    group: 'delivery',
    title: english`Webhook secret`,
    default: null,
    secret: true,
    description: english`Key that signs those posts. Without one, nothing is posted.`,
  }),
  COPILOT_WORKDIR: setting(directorySchema, {
    group: 'delivery',
    title: english`Working directory`,
    default: null,
    sensitive: true,
    description: english`Directory that the coding assistant works in, outside the data directory. While unset, it is DATA_DIR with -work appended.`,
  }),
  TASK_LIMIT: setting(integerSchema(1, 20), {
    group: 'delivery',
    title: english`Concurrent tasks`,
    unit: english`tasks`,
    default: 2,
    description: english`How many tasks of the coding assistant may run at once.`,
  }),
  TASK_TIMEOUT_MINUTES: setting(integerSchema(1, 1_440), {
    group: 'delivery',
    title: english`Task timeout`,
    unit: english`minutes`,
    default: 60,
    description: english`Time after which a task times out, in minutes.`,
  }),
}
