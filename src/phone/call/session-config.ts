import type { Codec } from './codec.ts'
import type { SessionPlan } from './ports.ts'
import type { ClientEvent } from './realtime-protocol.ts'

/**
 * The first events to a new session: its settings, then the history. Uses server_vad because semantic_vad was
 * seen never to fire on phone lines.
 */
export function sessionOpening(plan: SessionPlan, { format }: Pick<Codec, 'format'>): readonly ClientEvent[] {
  const settings: ClientEvent = {
    type: 'session.update',
    session: {
      type: 'realtime',
      output_modalities: ['audio'],
      instructions: plan.instructions,
      tools: plan.tools.map((tool) => ({ type: 'function', ...tool })),
      tool_choice: 'auto',
      audio: {
        input: {
          format,
          transcription: { model: plan.transcriptionModel },
          turn_detection: {
            type: 'server_vad',
            threshold: 0.5,
            prefix_padding_ms: 300,
            silence_duration_ms: 500,
            create_response: true,
            interrupt_response: true,
          },
        },
        output: { format, voice: plan.voice },
      },
    },
  }
  return [settings, ...plan.history.map(historyItem)]
}

function historyItem({ role, text }: SessionPlan['history'][number]): ClientEvent {
  const type = 'conversation.item.create'
  if (role === 'delegate') {
    return {
      type,
      item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
    }
  }
  // Inner data may be hostile, so it gets the role with the least authority and is delimited.
  return { type, item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } }
}
