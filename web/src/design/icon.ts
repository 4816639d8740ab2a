import { css, LitElement, type SVGTemplateResult, svg } from 'lit'
import {
  ArrowDown,
  ArrowUp,
  Bell,
  Brain,
  CalendarX2,
  ChartLine,
  Check,
  ChevronRight,
  CircleCheck,
  CircleHelp,
  CircleX,
  CloudOff,
  Copy,
  Download,
  Ellipsis,
  Eraser,
  Eye,
  EyeOff,
  FileText,
  Globe,
  History,
  Info,
  Keyboard,
  Link,
  Lock,
  LogOut,
  Menu,
  MessageCircle,
  MessageSquareText,
  Monitor,
  Moon,
  Pause,
  Pencil,
  Phone,
  Play,
  Plug,
  Plus,
  RotateCcw,
  ScrollText,
  Search,
  Settings,
  SlidersHorizontal,
  Smartphone,
  Sparkles,
  Square,
  StickyNote,
  Sun,
  Timer,
  Trash2,
  TriangleAlert,
  User,
  Wrench,
  X,
} from 'lucide'

const icons = {
  'arrow-down': ArrowDown,
  'arrow-up': ArrowUp,
  bell: Bell,
  brain: Brain,
  chart: ChartLine,
  chat: MessageCircle,
  check: Check,
  chevron: ChevronRight,
  close: X,
  copy: Copy,
  done: CircleCheck,
  edit: Pencil,
  erased: Eraser,
  file: FileText,
  hide: EyeOff,
  keyboard: Keyboard,
  link: Link,
  menu: Menu,
  monitor: Monitor,
  moon: Moon,
  more: Ellipsis,
  note: StickyNote,
  offline: CloudOff,
  help: CircleHelp,
  period: CalendarX2,
  phone: Phone,
  plus: Plus,
  retry: RotateCcw,
  search: Search,
  show: Eye,
  'sign-out': LogOut,
  sliders: SlidersHorizontal,
  sms: MessageSquareText,
  spark: Sparkles,
  stop: Square,
  sun: Sun,
  timeline: History,
  timer: Timer,
  tool: Wrench,
  trash: Trash2,
  failed: CircleX,
  globe: Globe,
  info: Info,
  lock: Lock,
  pause: Pause,
  play: Play,
  plug: Plug,
  logs: ScrollText,
  settings: Settings,
  handheld: Smartphone,
  user: User,
  download: Download,
  warning: TriangleAlert,
} as const

export type IconName = keyof typeof icons

const shapes: Readonly<Record<string, (a: Readonly<Record<string, unknown>>) => SVGTemplateResult>> = {
  path: (a) => svg`<path d=${a.d}></path>`,
  circle: (a) => svg`<circle cx=${a.cx} cy=${a.cy} r=${a.r}></circle>`,
  line: (a) => svg`<line x1=${a.x1} x2=${a.x2} y1=${a.y1} y2=${a.y2}></line>`,
  rect: (a) => svg`<rect x=${a.x} y=${a.y} width=${a.width} height=${a.height} rx=${a.rx ?? 0}></rect>`,
}

/** A decorative picture, hidden from assistive technology: its button or text says what it means. */
export class DgIcon extends LitElement {
  static override readonly properties = { name: {} }
  static override readonly styles = css`
    :host {
      display: inline-block;
      flex: none;
      width: var(--icon-size, 1.125em);
      height: var(--icon-size, 1.125em);
    }
    svg {
      display: block;
      width: 100%;
      height: 100%;
      fill: none;
      stroke: currentColor;
      stroke-width: 2;
      stroke-linecap: round;
      stroke-linejoin: round;
    }
  `
  declare name: IconName

  override connectedCallback(): void {
    super.connectedCallback()
    this.ariaHidden = 'true'
  }

  override render() {
    const node = icons[this.name]
    return svg`<svg viewBox="0 0 24 24" focusable="false">${node.map(([tag, attributes]) => shapes[tag]?.(attributes))}</svg>`
  }
}

customElements.define('dg-icon', DgIcon)
