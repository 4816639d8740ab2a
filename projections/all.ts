import { adaptationsProjection } from './adaptations.ts'
import { backupsProjection } from './backups.ts'
import { callsProjection } from './calls.ts'
import { contextProjection } from './context.ts'
import { conversationsProjection } from './conversations.ts'
import { deliveriesProjection } from './deliveries.ts'
import { derivationsProjection } from './derivations.ts'
import { erasuresProjection } from './erasures.ts'
import { importReadingsProjection } from './import-readings.ts'
import { importSearchProjection } from './import-search.ts'
import { importsProjection } from './imports.ts'
import { memoriesProjection } from './memories.ts'
import { memoryCheckpointsProjection } from './memory-checkpoints.ts'
import { notesProjection } from './notes.ts'
import { notificationsProjection } from './notifications.ts'
import { openSpansProjection } from './open-spans.ts'
import { operationsProjection } from './operations.ts'
import { ownerProjection } from './owner.ts'
import type { Projection } from './projection.ts'
import { proposalsProjection } from './proposals.ts'
import { recallProjection } from './recall-index.ts'
import { searchProjection } from './search.ts'
import { signalsProjection } from './signals.ts'
import { spendingProjection } from './spending.ts'
import { tasksProjection } from './tasks.ts'
import { textsProjection } from './texts.ts'
import { timelineProjection } from './timeline.ts'
import { timersProjection } from './timers.ts'
import { turnsProjection } from './turns.ts'
import { utterancesProjection } from './utterances.ts'

export const projections: readonly Projection[] = [
  timelineProjection,
  conversationsProjection,
  openSpansProjection,
  turnsProjection,
  contextProjection,
  operationsProjection,
  spendingProjection,
  signalsProjection,
  timersProjection,
  tasksProjection,
  deliveriesProjection,
  notificationsProjection,
  backupsProjection,
  callsProjection,
  textsProjection,
  proposalsProjection,
  derivationsProjection,
  notesProjection,
  memoriesProjection,
  memoryCheckpointsProjection,
  utterancesProjection,
  adaptationsProjection,
  erasuresProjection,
  ownerProjection,
  importsProjection,
  importReadingsProjection,
  searchProjection,
  importSearchProjection,
  recallProjection,
]
