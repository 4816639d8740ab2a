import type { RouteDeps } from './features.ts'
import { adaptationRoutes } from './routes/adaptations.ts'
import { backupRoutes } from './routes/backups.ts'
import { callRoutes } from './routes/calls.ts'
import { chatRoutes } from './routes/chat.ts'
import { chatSocketReference } from './routes/chat-socket.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { downloadRoutes } from './routes/downloads.ts'
import { erasureRoutes } from './routes/erasures.ts'
import { importReadingRoutes } from './routes/import-readings.ts'
import { importRoutes } from './routes/imports.ts'
import { memoryRoutes } from './routes/memories.ts'
import { notePageRoutes } from './routes/note-page.ts'
import { noteRoutes } from './routes/notes.ts'
import { notificationRoutes } from './routes/notifications.ts'
import { operationRoutes } from './routes/operations.ts'
import { outboundRoutes } from './routes/outbound.ts'
import { proposalRoutes } from './routes/proposals.ts'
import { sessionRoutes } from './routes/session.ts'
import { smsRoutes } from './routes/sms.ts'
import { speechRoutes } from './routes/speech.ts'
import { spendingRoutes } from './routes/spending.ts'
import { talkSocketReference } from './routes/talk-socket.ts'
import { taskRoutes } from './routes/tasks.ts'
import { telephonyRoutes } from './routes/telephony.ts'
import { timelineRoutes } from './routes/timeline.ts'
import { timerRoutes } from './routes/timers.ts'
import { voiceMarkupRoutes } from './routes/voice-markup.ts'
import { walkieRoutes } from './routes/walkie.ts'
import type { Routes } from './server/env.ts'

/** In the order of the API reference. */
const RESOURCES = [
  chatSocketReference,
  chatRoutes,
  timelineRoutes,
  conversationRoutes,
  memoryRoutes,
  erasureRoutes,
  noteRoutes,
  adaptationRoutes,
  notePageRoutes,
  outboundRoutes,
  proposalRoutes,
  timerRoutes,
  notificationRoutes,
  taskRoutes,
  sessionRoutes,
  operationRoutes,
  backupRoutes,
  downloadRoutes,
  importRoutes,
  importReadingRoutes,
  spendingRoutes,
  voiceMarkupRoutes,
  telephonyRoutes,
  smsRoutes,
  callRoutes,
  speechRoutes,
  talkSocketReference,
]

/** Adds the routes of all features. */
export function addFeatureRoutes(routes: Routes, deps: RouteDeps): void {
  for (const addRoutes of RESOURCES) addRoutes(routes, deps)
  if (deps.devRoutes) walkieRoutes(routes, deps)
}
