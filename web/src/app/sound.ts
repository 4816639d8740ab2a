const choiceKey = 'delegate.sound'
const notes = [
  { hertz: 660, atSeconds: 0 },
  { hertz: 880, atSeconds: 0.16 },
]
const noteSeconds = 0.35
const volume = 0.15

/** Whether reminders ring in this browser. */
export const isSoundOn = (): boolean => localStorage.getItem(choiceKey) !== '0'
export const setSound = (isOn: boolean): void => localStorage.setItem(choiceKey, isOn ? '1' : '0')

/** Plays two short tones. Browsers stay silent until the owner has used the page. */
export function ring(): void {
  if (!isSoundOn() || !navigator.userActivation?.hasBeenActive) return
  const context = new AudioContext()
  for (const { hertz, atSeconds } of notes) {
    const at = context.currentTime + atSeconds
    const tone = new OscillatorNode(context, { frequency: hertz })
    const gain = new GainNode(context, { gain: volume })
    gain.gain.setTargetAtTime(0, at, noteSeconds / 4)
    tone.connect(gain).connect(context.destination)
    tone.start(at)
    tone.stop(at + noteSeconds)
    tone.addEventListener('ended', () => {
      if (hertz === notes.at(-1)?.hertz) void context.close()
    })
  }
}
