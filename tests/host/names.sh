#!/bin/sh
# Fails where the names that a stand-in exports are not those of the functions that the library has for it.
# names.sh LIBRARY FOLDER_OF_STAND_INS
set -eu
exported() { nm -D --defined-only "$1" | sed 's/.* //; s/@.*//' | grep -E "$2" | LC_ALL=C sort -u; }
failed=0
same() { # LIBRARY STAND_IN BEGINNING_OF_ITS_NAMES
  if [ "$(exported "$2" "$3")" != "$(exported "$1" "$3")" ] || [ -z "$(exported "$2" "$3")" ]; then
    echo "$2 does not export what $1 has under $3"
    failed=1
  fi
}
for version in 11.0 12 13; do same "$1" "$2/libcudart.so.$version" '^(__)?cuda'; done
same "$1" "$2/libcuda.so.1" '^cu[A-Z]'
exit $failed
