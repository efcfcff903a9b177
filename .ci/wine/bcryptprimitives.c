// Wine 8 lacks bcryptprimitives.dll, from which each Go program imports ProcessPrng. SystemFunction036 of advapi32 is
// RtlGenRandom, which gives random bytes as well.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
    const SIZE_T most = 1 << 28;
    while (size > 0) {
        ULONG part = size > most ? most : size;
        if (!SystemFunction036(data, part)) return FALSE;
        data += part;
        size -= part;
    }
    return TRUE;
}

BOOL WINAPI DllMainCRTStartup(HINSTANCE library, DWORD reason, LPVOID reserved) { return TRUE; }
