#!/bin/sh
# SPDX-License-Identifier: MIT
# view serves the page to who has its address on this machine, and nothing to anybody else.
set -u
: "${PERFDATA:?}" "${SOURCE:?}"
"$PERFDATA" version --build-options | grep -q 'libmicrohttpd: \[ on ' ||
    { echo 'built without libmicrohttpd'; exit 77; }
command -v python3 >/dev/null || { echo 'python3 is not here'; exit 77; }
exec python3 - "$PERFDATA" "$SOURCE/tests/data/demo" <<'END'
import http.client, json, os, re, signal, socket, subprocess, sys, time, zlib

perfdata, demo = sys.argv[1:]
symbols = ['--symfs', demo + '/symfs', '--kallsyms', demo + '/symfs/kallsyms']
os.environ['PERF_CONFIG'] = '/dev/null'
failed = []

def check(ok, what):
    if not ok:
        failed.append(what)

def start(*options):
    server = subprocess.Popen([perfdata, 'view', *symbols, *options], stdout=subprocess.PIPE,
                              text=True)
    line = server.stdout.readline()
    match = re.fullmatch(r'http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)\n', line)
    if not match:
        sys.exit('no address: ' + repr(line))
    return server, int(match[1]), match[2]

def ask(method, path, host=None, body=None, more=()):
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    if host != '':
        connection.putheader('Host', host or '127.0.0.1:%d' % port)
    for name, value in more:
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text, answer

# What the page of the whole recording holds.
def whole():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if json.loads(ask('GET', path + 'progress')[1])['whole']:
            return zlib.decompress(ask('GET', path + 'data')[1], -15)
        time.sleep(0.02)
    sys.exit('the recording does not end')

server, port, path = start('-i', demo + '/shapes.data')
status, page, answer = ask('GET', path)
check(status == 200 and b'<html' in page[:2000].lower(), 'the page')
check(answer.getheader('Content-Type') == 'text/html; charset=utf-8', 'its type')
check(answer.getheader('Cache-Control') == 'no-store', 'it is not kept')
check(b'Content-Security-Policy' in page, "the page's own policy")
check(ask('GET', path, 'localhost:%d' % port)[0] == 200, 'localhost')
for host in ['evil.example', 'evil.example:%d' % port, '127.0.0.1', '127.0.0.1:1',
             '127.0.0.1:%d.evil.example' % port,
             'localhost', '[::1]:%d' % port, '']:
    status, text, _ = ask('GET', path, host)
    check(status in (400, 403) and page[:100] not in text, 'host ' + repr(host) + ': %d' % status)
for method in ['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'NONSENSE']:
    more = [('Content-Length', '0')] if method in ('POST', 'PUT', 'PATCH') else []
    status, text, answer = ask(method, path, more=more)
    check(status == 405 and len(text) < 100, method + ': %d' % status)
    check(answer.getheader('Allow') == 'GET', method + ': what is allowed')
wrong = path[:-2] + ('0' if path[-2] != '0' else '1') + '/'
for other in ['/', '', wrong, path + 'x', path[:-1], path.upper() + '/', '/../' + path, path * 2,
              path + '../perf.data', '//' + path,
              '/etc/passwd', '/' + 'a' * 100000]:
    status, text, _ = ask('GET', other or '/')
    check(status in (404, 414, 413, 431) and len(text) < 1000, repr(other[:60]) + ': %d' % status)
check(ask('GET', path + '?x=1')[0] == 200, 'a query changes nothing')
# Nothing but loopback listens.
own = socket.gethostbyname_ex(socket.gethostname())[2] if socket.gethostname() else []
for address in [a for a in own if not a.startswith('127.')]:
    try:
        socket.create_connection((address, port), 2).close()
        check(False, 'it listens on ' + address)
    except OSError:
        pass
# What is no request is answered by nothing of ours, and ends nothing.
for bytes_ in [b'\0' * 1000, b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'G' * 100000]:
    connection = socket.create_connection(('127.0.0.1', port), 30)
    try:
        connection.sendall(bytes_)
        connection.settimeout(1)
        text = connection.recv(1 << 20)
    except OSError:
        text = b''
    check(path.encode() not in text and page[:100] not in text, repr(bytes_[:20]))
    connection.close()
check(ask('GET', path)[0] == 200, 'it still serves')
plain = whole()
server.send_signal(signal.SIGINT)
check(server.wait(30) == 0, 'CTRL+C ends it with 0')
second, port2, path2 = start('-i', demo + '/shapes.data', '--port', str(port))
check(port2 == port, '--port')
check(path2 != path, 'another token each time')
third = subprocess.run([perfdata, 'view', *symbols, '-i', demo + '/shapes.data', '--port', str(port)],
                       capture_output=True, text=True)
check(third.returncode != 0 and 'in use' in third.stderr, 'a port that is taken: ' + third.stderr)
second.send_signal(signal.SIGTERM)
check(second.wait(30) == 0, 'SIGTERM ends it with 0')
# With --code there is more in the data: the header in it says what was left out.
with_code, port, path = start('-i', demo + '/shapes.data', '--code')
more = whole()
check(len(more) > len(plain) + 100, '--code: %d bytes, without it %d' % (len(more), len(plain)))
with_code.send_signal(signal.SIGTERM)
check(with_code.wait(30) == 0, 'SIGTERM ends it with 0, with --code')
piped = subprocess.run([perfdata, 'view', '--code', '-i', '-'], stdin=open(demo + '/shapes.data'),
                       capture_output=True, text=True)
check(piped.returncode == 2 and '--code' in piped.stderr,
      '--code of standard input: ' + piped.stderr)
# A signal ends it in the midst of reading, too: here nothing more comes.
written = subprocess.run([perfdata, 'inject', '-i', demo + '/shapes.data', '-o', '-'],
                         stdout=subprocess.PIPE).stdout
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    waiting = subprocess.Popen([perfdata, 'view', '-i', '-'], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    waiting.stdin.write(written[:len(written) // 2])
    waiting.stdin.flush()
    waiting.stdout.readline()
    waiting.send_signal(number)
    try:
        check(waiting.wait(10) == 0, 'a signal while it reads: exit status')
    except subprocess.TimeoutExpired:
        check(False, 'a signal while it reads changes nothing')
        waiting.kill()
missing = subprocess.run([perfdata, 'view', '-i', 'missing.data'], capture_output=True, text=True)
check(missing.returncode == 3 and missing.stdout == '', 'a missing recording')
print('\n'.join(failed))
sys.exit(1 if failed else 0)
END
