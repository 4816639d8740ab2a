import { Explained } from '../api/explained.ts'
import { msg } from '../design/msg.ts'
import type { PlayerMessage } from './audio-worklet.ts'
import workletUrl from './audio-worklet.ts?worker&url'

export type Microphone = {
  /** Sends silence while it is muted. */
  mute(muted: boolean): void
  close(): void
  /** Resolves if the device is taken away, not on `close`. */
  readonly lost: Promise<void>
}

/** Why a talk or a dictation ends when its microphone is lost. */
export const microphoneLost = msg`The microphone stopped working. Check that it is connected and allowed, then try again.`

/** Opens the microphone: PCM at `rate`, 20 ms at a time. Throws Explained. */
export async function openMicrophone(rate: number, heard: (frame: ArrayBuffer) => void): Promise<Microphone> {
  const stream = await requestStream()
  const lost = Promise.withResolvers<void>()
  for (const track of stream.getTracks()) track.addEventListener('ended', () => lost.resolve())
  const { context, source } = await sourceOf(stream, rate)
  try {
    await context.audioWorklet.addModule(workletUrl)
    const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0, processorOptions: { rate } })
    node.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => heard(data)
    source.connect(node)
    await context.resume()
  } catch (error) {
    close()
    throw error
  }

  function close(): void {
    for (const track of stream.getTracks()) track.stop()
    void context.close()
  }
  return {
    mute(muted) {
      for (const track of stream.getTracks()) track.enabled = !muted
    },
    close,
    lost: lost.promise,
  }
}

async function requestStream(): Promise<MediaStream> {
  // Absent on pages over plain http.
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (!devices)
    throw new Explained(
      msg`Browsers offer a microphone only over https or on localhost. Open Delegate by its https address.`,
    )
  try {
    return await devices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    })
  } catch (error) {
    throw new Explained(explainDevice(error), { cause: error })
  }
}

function explainDevice(error: unknown): string {
  const name = error instanceof DOMException ? error.name : ''
  if (name === 'NotAllowedError')
    return msg`The microphone is blocked. Allow it for this site in the settings of your browser, then try again.`
  if (name === 'NotFoundError') return msg`No microphone was found. Connect one, then try again.`
  return msg`The microphone cannot be used. Close other programs that use it, then try again.`
}

/** Firefox converts no rate here, so the worklet does. */
async function sourceOf(stream: MediaStream, rate: number) {
  const context = new AudioContext({ sampleRate: rate })
  try {
    return { context, source: context.createMediaStreamSource(stream) }
  } catch {
    await context.close()
    const own = new AudioContext()
    return { context: own, source: own.createMediaStreamSource(stream) }
  }
}

export type Player = {
  /** Plays PCM at 24 kHz after what was given before. */
  play(audio: ArrayBuffer): void
  /** Reports `mark` once everything before it was played. */
  mark(mark: string): void
  /** Drops what was not played, and its marks. */
  clear(): void
  close(): void
}

export const PLAYED_RATE = 24_000

export async function openPlayer(played: (mark: string) => void): Promise<Player> {
  const context = new AudioContext({ sampleRate: PLAYED_RATE })
  await context.audioWorklet.addModule(workletUrl)
  const node = new AudioWorkletNode(context, 'playback', { numberOfInputs: 0, outputChannelCount: [1] })
  node.port.onmessage = ({ data }: MessageEvent<string>) => played(data)
  node.connect(context.destination)
  await context.resume()
  const post = (message: PlayerMessage, moved: Transferable[] = []) => node.port.postMessage(message, moved)
  return {
    play: (audio) => post({ audio }, [audio]),
    mark: (mark) => post({ mark }),
    clear: () => post({ clear: true }),
    close: () => void context.close(),
  }
}
